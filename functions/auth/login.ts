// POST /auth/login
import { wrongPassword } from "../../shared/api/errors.ts";
import * as auth from "../../shared/api/auth.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { startChange } from "../../shared/data/change.ts";
import { logEvent } from "../../shared/records/events.ts";
import { endOfSession, findUserByEmail, noteSignIn, openSession } from "../../shared/records/users.ts";
import { admitLogin } from "../../shared/operations/login-limits.ts";
import { asciiEmail } from "../../shared/domain/international.ts";
import { newId } from "../../shared/domain/ids.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { signSession } from "../../shared/runtime/jwt.ts";
import { NO_PASSWORD, verifyPassword } from "../../shared/platform/passwords.ts";

export const handler = handle(auth.login)(async ({ body, ipAddress, requestId }) => {
  const email = asciiEmail(body.email);
  const attempt = await admitLogin(email, ipAddress ?? "unknown");
  const user = await findUserByEmail(email);
  const correct = await verifyPassword(body.password, user?.password_hash ?? NO_PASSWORD);
  if (user === undefined || !correct) throw wrongPassword();
  await attempt.succeeded();
  const sessionId = newId("session");
  const expires = endOfSession(sessionId);
  const account = await getAccount(user.account_id);
  // At once: the event's time goes with its number, which comes from the account as it was read.
  const change = startChange(account);
  if (!(await openSession(user, sessionId, account.limit_session))) throw wrongPassword();
  const caller = {
    account_id: user.account_id,
    type: "user" as const,
    id: user.id,
    name: user.name,
    permissions: [],
    ip_address: ipAddress,
  };
  logEvent(change, { caller, requestId }, "auth.login", { type: "user", id: user.id, name: user.name });
  noteSignIn(change, user);
  await change.commit();
  const session = { userId: user.id, accountId: user.account_id, sessionId };
  return { token: await signSession(session, expires), expires_at: expires.toISOString(), user };
});
