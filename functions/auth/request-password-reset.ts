// POST /auth/password-reset
import * as auth from "../../shared/api/auth.ts";
import { startChange } from "../../shared/data/change.ts";
import { asciiEmail } from "../../shared/domain/international.ts";
import { beginLoginAttempt, withoutCounting } from "../../shared/operations/credentials/login-limits.ts";
import { limitResets } from "../../shared/operations/credentials/mail-limits.ts";
import { requirePasswordAllowed } from "../../shared/operations/sign-in/sign-in-rules.ts";
import { requestMail } from "../../shared/records/mails.ts";
import { unknownUser, reserveReset } from "../../shared/records/password-resets.ts";
import { findUserByEmail } from "../../shared/records/users.ts";
import { handle } from "../../shared/runtime/handle.ts";

// Whoever asks learns nothing of the email: an unknown one causes the same reads and writes, of which nothing comes.
export const handler = handle(auth.requestPasswordReset)(async ({ body, ipAddress }) => {
  const email = asciiEmail(body.email);
  const attempt = await beginLoginAttempt(email, ipAddress ?? "unknown");
  await withoutCounting(attempt, () => requirePasswordAllowed(email));
  const [isAllowed, knownUser] = [await limitResets(email), await findUserByEmail(email)];
  if (!isAllowed) return { requested: true };
  const user = knownUser ?? (await unknownUser(email));
  const change = startChange({ id: user.account_id });
  const token = reserveReset(change, user);
  await requestMail(change, { to: { user_id: user.id }, message: { type: "password_reset", token } });
  await change.commit();
  return { requested: true };
});
