// POST /users/invitations/:id/resend
import { alreadyUser } from "../../shared/api/errors.ts";
import * as invitations from "../../shared/api/invitations.ts";
import { find } from "../../shared/data/table.ts";
import { preferredLanguage } from "../../shared/mail/messages.ts";
import { limitInvitations } from "../../shared/operations/credentials/mail-limits.ts";
import { requireGrantable, requireRoleFor, requireUnchangedRole } from "../../shared/operations/credentials/roles.ts";
import { changesBetween } from "../../shared/records/audit-changes.ts";
import { logEvent } from "../../shared/records/events.ts";
import { invitationRef, renewInvitation, requireInvitation, showInvitation } from "../../shared/records/invitations.ts";
import { requestMail } from "../../shared/records/mails.ts";
import { findUserByEmail } from "../../shared/records/users.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(invitations.resend)(async ({ params, caller, by, acceptLanguage, read, commit }) => {
  const ref = invitationRef(caller.account_id, params.id);
  await requireRoleFor(caller, () => find(ref));
  const { change, account, ...records } = await beginChange({ caller, read }, { invitation: ref });
  const current = requireInvitation(records.invitation);
  requireGrantable(caller, current);
  if ((await findUserByEmail(current.email))?.account_id === account.id) throw alreadyUser();
  requireUnchangedRole(change, caller);
  await limitInvitations(account.id);
  const { invitation, token } = renewInvitation(change, caller, current);
  await requestMail(change, {
    to: { email: invitation.email },
    language: preferredLanguage(acceptLanguage), // that of whoever invites
    message: { type: "invitation", token, account_name: account.account_name, invited_by: invitation.invited_by.name },
  });
  const changes = changesBetween(current, invitation, ["invited_by", "expires_at"]);
  logEvent(change, by, { type: "user.invited", changes }, { type: "user", id: invitation.id, name: invitation.email });
  return commit(change, showInvitation(invitation));
});
