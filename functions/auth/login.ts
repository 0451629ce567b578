// POST /auth/login
import { wrongPassword } from "../../shared/api/errors.ts";
import * as auth from "../../shared/api/auth.ts";
import { findUserByEmail } from "../../shared/records/users.ts";
import { hasSecondFactor } from "../../shared/records/second-factors.ts";
import { admitLogin } from "../../shared/operations/login-limits.ts";
import { signInChallenge } from "../../shared/operations/proof-required.ts";
import { requirePasswordAllowed } from "../../shared/operations/sign-in-rules.ts";
import { asciiEmail } from "../../shared/domain/international.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { signIn } from "../../shared/runtime/sign-in.ts";
import { NO_PASSWORD, verifyPassword } from "../../shared/platform/passwords.ts";

export const handler = handle(auth.login)(async ({ body, requestId, origin, ...from }) => {
  const email = asciiEmail(body.email);
  const attempt = await admitLogin(email, from.ipAddress ?? "unknown");
  await requirePasswordAllowed(email);
  const user = await findUserByEmail(email);
  const correct = await verifyPassword(body.password, user?.password_hash ?? NO_PASSWORD);
  if (user === undefined || !correct) throw wrongPassword();
  await attempt.succeeded();
  if (hasSecondFactor(user)) throw await signInChallenge(user, origin());
  return signIn(user, { ...from, requestId });
});
