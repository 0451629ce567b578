// POST /users/invitations
import { alreadyUser } from "../../shared/api/errors.ts";
import * as invitations from "../../shared/api/invitations.ts";
import { preferredLanguage } from "../../shared/mail/messages.ts";
import { limitInvitations } from "../../shared/operations/credentials/mail-limits.ts";
import { requestedGrant, requireGrantable, requireUnchangedRole } from "../../shared/operations/credentials/roles.ts";
import { logEvent } from "../../shared/records/events.ts";
import { reserveInvitation, showInvitation } from "../../shared/records/invitations.ts";
import { requestMail } from "../../shared/records/mails.ts";
import { findUserByEmail } from "../../shared/records/users.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(invitations.create)(async ({ body, caller, by, acceptLanguage, read, commit }) => {
  const granted = requestedGrant(body);
  requireGrantable(caller, granted);
  const { change, account } = await beginChange({ caller, read }, {});
  // Whether somebody is a user of another account is not told.
  if ((await findUserByEmail(body.email))?.account_id === account.id) throw alreadyUser();
  change.requireRoom("user");
  requireUnchangedRole(change, caller);
  await limitInvitations(account.id);
  const { invitation, token } = reserveInvitation(change, caller, { email: body.email, ...granted });
  await requestMail(change, {
    to: { email: invitation.email },
    language: preferredLanguage(acceptLanguage), // that of whoever invites
    message: { type: "invitation", token, account_name: account.account_name, invited_by: invitation.invited_by.name },
  });
  logEvent(change, by, "user.invited", { type: "user", id: invitation.id, name: invitation.email });
  return commit(change, showInvitation(invitation));
});
