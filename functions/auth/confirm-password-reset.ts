// POST /auth/password-reset/confirm
import * as auth from "../../shared/api/auth.ts";
import { startChange } from "../../shared/data/change.ts";
import { requireUncommonPassword } from "../../shared/operations/credentials/new-passwords.ts";
import { beginAddressAttempt, forgetFailures, withoutCounting } from "../../shared/operations/credentials/login-limits.ts";
import { requirePasswordAllowed } from "../../shared/operations/sign-in/sign-in-rules.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { logEvent } from "../../shared/records/events.ts";
import { requestMail } from "../../shared/records/mails.ts";
import { endReset, userOfReset } from "../../shared/records/password-resets.ts";
import { markMailboxWorking, setPassword } from "../../shared/records/users.ts";
import { log } from "../../shared/platform/log.ts";
import { hashPassword } from "../../shared/platform/passwords.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(auth.confirmPasswordReset)(async ({ body, ipAddress, userAgent, requestId }) => {
  requireUncommonPassword("new_password", body.new_password);
  const attempt = await beginAddressAttempt(ipAddress ?? "unknown"); // nobody tries many links
  const user = await userOfReset(body.token);
  await withoutCounting(attempt, () => requirePasswordAllowed(user.email, user.account_id));
  await markMailboxWorking(user);
  const password_hash = await hashPassword(body.new_password);
  const change = startChange(await getAccount(user.account_id));
  endReset(change, user, body.token);
  setPassword(change, user, password_hash);
  const { account_id, id, name, role } = user;
  const caller = { account_id, type: "user" as const, id, name, permissions: [], role };
  const by = { caller: { ...caller, ip_address: ipAddress }, requestId };
  logEvent(
    change,
    by,
    { type: "auth.password_reset", changes: [{ field: "password" }] },
    { type: "user", id: user.id, name: user.name },
  );
  const message = { type: "password_changed", at: change.at, ip_address: ipAddress, user_agent: userAgent } as const;
  await requestMail(change, { to: { user_id: user.id }, message });
  await change.commit();
  await attempt.succeeded();
  // Nothing undoes the new password, and the link works no more: what is not forgotten ends by itself.
  await forgetFailures(user.email, ipAddress ?? "unknown").catch((error: unknown) => {
    log.warn("failures to sign in still count after a reset of the password", { error });
  });
  return { id: user.id, email: user.email, name: user.name };
});
