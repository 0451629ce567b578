// PUT /auth/password.
import { ApiError, notCurrentPassword } from "../../shared/api/errors.ts";
import * as auth from "../../shared/api/auth.ts";
import { logEvent } from "../../shared/records/events.ts";
import { cancelReset } from "../../shared/records/password-resets.ts";
import { setPassword, userRef } from "../../shared/records/users.ts";
import { requireUncommonPassword } from "../../shared/operations/credentials/new-passwords.ts";
import { beginLoginAttempt } from "../../shared/operations/credentials/login-limits.ts";
import { requestMail } from "../../shared/records/mails.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle, requireSession } from "../../shared/runtime/handle.ts";
import { hashPassword, verifyPassword } from "../../shared/platform/passwords.ts";

export const handler = handle(auth.password)(async ({ body, caller, by, ipAddress, userAgent, read, commit }) => {
  requireUncommonPassword("new_password", body.new_password);
  const { change, user } = await beginChange({ caller, read }, { user: userRef(caller.id) });
  if (user === undefined) throw new ApiError("UNAUTHORIZED"); // removed after the session was authenticated
  // A stolen session must not be a way to guess the password.
  const attempt = await beginLoginAttempt(user.email, ipAddress ?? "unknown");
  if (!(await verifyPassword(body.current_password, user.password_hash))) throw notCurrentPassword();
  await attempt.succeeded();
  setPassword(change, user, await hashPassword(body.new_password), requireSession(caller));
  cancelReset(change, user);
  await requestMail(change, {
    to: { user_id: user.id },
    message: { type: "password_changed", at: change.at, ip_address: ipAddress, user_agent: userAgent },
  });
  logEvent(
    change,
    by,
    { type: "auth.password", changes: [{ field: "password" }] },
    { type: "user", id: user.id, name: user.name },
  );
  return commit(change, { id: user.id, email: user.email, name: user.name });
});
