// GET /users/invitations
import * as invitations from "../../shared/api/invitations.ts";
import { mayGrant } from "../../shared/operations/credentials/roles.ts";
import { allInvitations, isForUser, showInvitation } from "../../shared/records/invitations.ts";
import { allUsers } from "../../shared/records/users.ts";
import { smallPage } from "../../shared/data/pages.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(invitations.list)(async ({ query, caller }) => {
  const [all, users] = await Promise.all([allInvitations(caller.account_id), allUsers(caller.account_id)]);
  const senders = new Map(users.map((user) => [user.id, user]));
  const open = all.filter(
    (invitation) =>
      mayGrant(senders.get(invitation.invited_by.id), invitation) && !users.some((user) => isForUser(invitation, user)),
  );
  const { items, meta } = smallPage(open, query, "invitation");
  return { items: items.map(showInvitation), meta };
});
