// POST /auth/invitations/accept
import { ApiError, emailTaken, linkInvalid } from "../../shared/api/errors.ts";
import * as auth from "../../shared/api/auth.ts";
import { retryOnConflict, startChange } from "../../shared/data/change.ts";
import { newId } from "../../shared/domain/ids.ts";
import { beginAddressAttempt, withoutCounting } from "../../shared/operations/credentials/login-limits.ts";
import { requireUncommonPassword } from "../../shared/operations/credentials/new-passwords.ts";
import { mayGrant } from "../../shared/operations/credentials/roles.ts";
import { requireAllowedAddress, requirePasswordAllowed } from "../../shared/operations/sign-in/sign-in-rules.ts";
import { signIn } from "../../shared/runtime/sign-in.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { logEvent } from "../../shared/records/events.ts";
import { invitationOfLink, removeInvitation } from "../../shared/records/invitations.ts";
import { findUserByEmail, requireUnchangedUser, reserveUser, userRef } from "../../shared/records/users.ts";
import { find } from "../../shared/data/table.ts";
import { hashPassword } from "../../shared/platform/passwords.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(auth.acceptInvitation)(async ({ body, ipAddress, requestId, userAgent, acceptLanguage }) => {
  requireUncommonPassword("password", body.password);
  const attempt = await beginAddressAttempt(ipAddress ?? "unknown"); // nobody tries many links
  const { invitation: invited } = await openInvitation(body.token);
  await withoutCounting(attempt, async () => {
    await requirePasswordAllowed(invited.email, invited.account_id);
    requireAllowedAddress(await getAccount(invited.account_id), ipAddress);
    if ((await findUserByEmail(invited.email)) === undefined) return;
    await openInvitation(body.token); // whoever has taken the email may have done so with this very link
    throw emailTaken(); // before a password is hashed in vain
  });
  const password_hash = await hashPassword(body.password);
  const user = await retryOnConflict(async () => {
    const { invitation, sender } = await openInvitation(body.token);
    const change = startChange(await getAccount(invitation.account_id));
    const { email, role, permissions } = invitation;
    removeInvitation(change, invitation, linkInvalid);
    requireUnchangedUser(change, sender);
    const user = reserveUser(change, { id: newId("user"), email, name: body.name, password_hash, role, permissions });
    const { account_id, id, name, role: as } = user;
    const caller = { account_id, type: "user" as const, id, name, permissions: [], role: as };
    logEvent(change, { caller: { ...caller, ip_address: ipAddress }, requestId }, "user.joined", {
      type: "user",
      id: user.id,
      name: user.name,
    });
    await change.commit();
    return user;
  }).catch(async (error: unknown) => {
    // Whoever has a link guesses nothing if the email is taken, or the account is full.
    if (error instanceof ApiError && error.code !== "UNAUTHORIZED") await attempt.succeeded();
    throw error;
  });
  await attempt.succeeded();
  return signIn(user, { ipAddress, requestId, userAgent, acceptLanguage });
});

/** The invitation of a link, whose sender may still send it; throws 401 for every other. */
async function openInvitation(token: string) {
  const invitation = await invitationOfLink(token);
  const sender = await find(userRef(invitation.invited_by.id));
  if (sender?.account_id !== invitation.account_id || !mayGrant(sender, invitation)) throw linkInvalid();
  return { invitation, sender };
}
