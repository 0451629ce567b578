// POST /auth/password-reset
import * as auth from "../../shared/api/auth.ts";
import { startChange } from "../../shared/data/change.ts";
import { asciiEmail } from "../../shared/domain/international.ts";
import { admitLogin, uncounted } from "../../shared/operations/login-limits.ts";
import { admitReset } from "../../shared/operations/mail-limits.ts";
import { requirePasswordAllowed } from "../../shared/operations/sign-in-rules.ts";
import { requestMail } from "../../shared/records/mails.ts";
import { nobody, reserveReset } from "../../shared/records/password-resets.ts";
import { findUserByEmail } from "../../shared/records/users.ts";
import { handle } from "../../shared/runtime/handle.ts";

// Whoever asks learns nothing of the email: an unknown one causes the same reads and writes, of which nothing comes.
export const handler = handle(auth.requestPasswordReset)(async ({ body, ipAddress }) => {
  const email = asciiEmail(body.email);
  const attempt = await admitLogin(email, ipAddress ?? "unknown");
  await uncounted(attempt, () => requirePasswordAllowed(email));
  const [isAllowed, found] = [await admitReset(email), await findUserByEmail(email)];
  if (!isAllowed) return { requested: true };
  const user = found ?? (await nobody(email));
  const change = startChange({ id: user.account_id });
  const token = reserveReset(change, user);
  await requestMail(change, { to: { user_id: user.id }, message: { type: "password_reset", token } });
  await change.commit();
  return { requested: true };
});
