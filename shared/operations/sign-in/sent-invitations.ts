// What becomes of somebody's invitations when they get another role.
import { startChange, tryCommit } from "../../data/change.ts";
import { getAccount } from "../../records/accounts.ts";
import { allInvitations, invitationRef } from "../../records/invitations.ts";
import { check } from "../../data/writes.ts";
import { type Author, logEvent } from "../../records/events.ts";
import type { UserRecord } from "../../records/schemas/user.ts";
import { userRef } from "../../records/users.ts";
import { mayGrant } from "../credentials/roles.ts";

/**
 * Removes the invitations that their sender may no longer send. Call it before a role is written, because an earlier call may
 * have been cut off, and again afterwards.
 */
export async function removeUnsendable(sender: UserRecord, by: Author): Promise<void> {
  for (const invitation of await allInvitations(sender.account_id)) {
    if (invitation.invited_by.id !== sender.id || mayGrant(sender, invitation)) continue;
    const change = startChange(await getAccount(sender.account_id));
    // The invitation stays if somebody else has sent it again.
    change.remove(invitationRef(sender.account_id, invitation.id).key, { equals: { link_hash: invitation.link_hash } });
    // It also stays if the sender has another role by now, with which they may have sent it.
    change.write(check(userRef(sender.id).key, { unchanged: { role: sender.role, permissions: sender.permissions } }));
    logEvent(change, by, "user.invitation_deleted", { type: "user", id: invitation.id, name: invitation.email });
    await tryCommit(change);
  }
}
