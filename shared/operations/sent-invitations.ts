// What becomes of somebody's invitations when they get another role.
import { startChange, tryCommit } from "../data/change.ts";
import { allInvitations, invitationRef } from "../records/invitations.ts";
import type { UserRecord } from "../records/schemas/user.ts";
import { maySend } from "./roles.ts";

/**
 * Removes the invitations that somebody may no longer send, so that none comes back to life with the role. Call it after the role
 * has been written: from then on they send no more of these.
 */
export async function removeUnsendable(sender: UserRecord): Promise<void> {
  for (const invitation of await allInvitations(sender.account_id)) {
    if (invitation.invited_by.id !== sender.id || maySend(sender, invitation)) continue;
    const change = startChange({ id: sender.account_id });
    // Not if somebody else has sent it again.
    change.remove(invitationRef(sender.account_id, invitation.id).key, { equals: { link_hash: invitation.link_hash } });
    await tryCommit(change);
  }
}
