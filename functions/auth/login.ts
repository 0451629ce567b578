// POST /auth/login
import { wrongPassword } from "../../shared/api/errors.ts";
import * as auth from "../../shared/api/auth.ts";
import { Overtaken } from "../../shared/data/change.ts";
import { find } from "../../shared/data/table.ts";
import type { UserRecord } from "../../shared/records/schemas/user.ts";
import { findUserByEmail, userRef } from "../../shared/records/users.ts";
import { hasSecondFactor } from "../../shared/records/second-factors.ts";
import { beginLoginAttempt, withoutCounting } from "../../shared/operations/credentials/login-limits.ts";
import { signInChallenge } from "../../shared/operations/sign-in/proof-required.ts";
import { requirePasswordAllowed } from "../../shared/operations/sign-in/sign-in-rules.ts";
import { asciiEmail } from "../../shared/domain/international.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { signIn } from "../../shared/runtime/sign-in.ts";
import { NO_PASSWORD, verifyPassword } from "../../shared/platform/passwords.ts";

export const handler = handle(auth.login)(async ({ body, requestId, origin, ...from }) => {
  const email = asciiEmail(body.email);
  const attempt = await beginLoginAttempt(email, from.ipAddress ?? "unknown");
  await withoutCounting(attempt, () => requirePasswordAllowed(email));
  const user = await findUserByEmail(email);
  const correct = await verifyPassword(body.password, user?.password_hash ?? NO_PASSWORD);
  if (user === undefined || !correct) throw wrongPassword();
  await attempt.succeeded();
  return signInOrAsk(user, { ...from, requestId }, origin);
});

type From = Parameters<typeof signIn>[1];

/** Asks for the second factor of whoever has one, also if it was set up a moment ago. */
async function signInOrAsk(user: UserRecord, from: From, origin: () => string): ReturnType<typeof signIn> {
  if (hasSecondFactor(user)) throw await signInChallenge(user, origin());
  try {
    return await signIn(user, from);
  } catch (error) {
    const current = error instanceof Overtaken ? await find(userRef(user.id)) : undefined;
    if (current === undefined) throw error;
    // The password is the one that was verified: one that has replaced it meanwhile was not.
    return signInOrAsk({ ...current, password_hash: user.password_hash }, from, origin);
  }
}
