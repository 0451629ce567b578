// DELETE /users/invitations/:id
import { notFound } from "../../shared/api/errors.ts";
import * as invitations from "../../shared/api/invitations.ts";
import { find } from "../../shared/data/table.ts";
import { requireRole, requireRoleFor, requireUnchangedRole } from "../../shared/operations/credentials/roles.ts";
import { logEvent } from "../../shared/records/events.ts";
import { invitationRef, invitationVersion, removeInvitation, requireInvitation } from "../../shared/records/invitations.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(invitations.delete)(async ({ params, caller, by, read, commit, match }) => {
  const ref = invitationRef(caller.account_id, params.id);
  await requireRoleFor(caller, () => find(ref));
  const { change, ...records } = await beginChange({ caller, read }, { invitation: ref });
  const invitation = requireInvitation(records.invitation);
  if (invitation.role === "owner") requireRole(caller, "owner");
  match(change, invitationVersion(invitation));
  requireUnchangedRole(change, caller);
  removeInvitation(change, invitation, () => notFound("invitation"));
  logEvent(change, by, "user.invitation_deleted", { type: "user", id: invitation.id, name: invitation.email });
  return commit(change, { id: invitation.id, deleted: true });
});
