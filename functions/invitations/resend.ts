// POST /users/invitations/:id/resend
import * as invitations from "../../shared/api/invitations.ts";
import { preferredLanguage } from "../../shared/mail/messages.ts";
import { admitInvitation } from "../../shared/operations/mail-limits.ts";
import { requireGrantable, requireStill } from "../../shared/operations/roles.ts";
import { logEvent } from "../../shared/records/events.ts";
import { invitationRef, renewInvitation, requireInvitation, showInvitation } from "../../shared/records/invitations.ts";
import { requestMail } from "../../shared/records/mails.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(invitations.resend)(async ({ params, caller, by, acceptLanguage, read, commit }) => {
  const { change, account, ...found } = await beginChange(
    { caller, read },
    { invitation: invitationRef(caller.account_id, params.id) },
  );
  const present = requireInvitation(found.invitation);
  requireGrantable(caller, present);
  requireStill(change, caller);
  await admitInvitation(account.id);
  const { invitation, token } = renewInvitation(change, caller, present);
  await requestMail(change, {
    to: { email: invitation.email },
    language: preferredLanguage(acceptLanguage), // that of whoever invites
    message: { type: "invitation", token, account_name: account.account_name, invited_by: invitation.invited_by.name },
  });
  logEvent(change, by, "user.invited", { type: "user", id: invitation.id, name: invitation.email });
  return commit(change, showInvitation(invitation));
});
