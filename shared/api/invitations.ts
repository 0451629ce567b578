// Invitations to an account: a link by mail, with which somebody chooses a password and becomes a user.
import * as z from "zod";
import { DEFAULT_QUOTAS, INVITATION } from "../domain/limits.ts";
import { endpoint } from "./endpoint.ts";
import { alreadyUser, overQuota, roleRequired, tooManyInvitations } from "./errors.ts";
import * as fields from "./fields.ts";
import { customPermissions, grantedPermissions, role } from "./users.ts";

export const Invitation = z
  .object({
    id: fields.id("invitation"),
    email: z.string().meta({ examples: ["ada@example.com"] }),
    email_unicode: fields.emailUnicode.meta({ examples: ["ada@example.com"] }),
    role,
    permissions: grantedPermissions,
    invited_by: fields.Actor.meta({ description: "Who sent the newest link" }),
    created_at: fields.timestamp,
    expires_at: fields.timestamp,
  })
  .meta({ id: "Invitation" });
export type Invitation = z.infer<typeof Invitation>;

export const list = () =>
  endpoint({
    path: "/users/invitations",
    summary: "List invitations",
    description: "Returns the invitations that can still be accepted, newest first.",
    access: ["settings:read"],
    ...fields.resourceListOf("invitation", Invitation, {}),
  });

const errors = () => [roleRequired("owner"), tooManyInvitations(3_600)];

export const create = () =>
  endpoint({
    method: "POST",
    path: "/users/invitations",
    summary: "Invite somebody",
    description:
      `Sends a link by mail that is valid for ${INVITATION.days} days and works once. It stops working if you lose the right to send it: nobody invites to more than they may ` +
      `do themselves. An account sends at most ${INVITATION.perDay} in 24 hours.`,
    access: "session",
    proof: () => true,
    role: "admin",
    status: 201,
    errors: () => [...errors(), alreadyUser(), overQuota("user", DEFAULT_QUOTAS.user)],
    body: z.strictObject({ email: fields.emailInput, role, permissions: customPermissions.optional() }),
    data: Invitation,
  });

const deleteOne = () =>
  endpoint({
    method: "DELETE",
    path: "/users/invitations/:id",
    summary: "Withdraw an invitation",
    description: "Its link stops working at once. Only owners can withdraw one of an owner.",
    access: "session",
    proof: () => true,
    role: "admin",
    errors: () => [roleRequired("owner")],
    data: fields.deleted("invitation"),
  });
export { deleteOne as delete };

export const resend = () =>
  endpoint({
    method: "POST",
    path: "/users/invitations/:id/resend",
    summary: "Send an invitation again",
    description: `Sends another link, valid for ${INVITATION.days} days, and the one before stops working.`,
    access: "session",
    proof: () => true,
    role: "admin",
    errors: () => [...errors(), alreadyUser()],
    body: z.strictObject({}),
    data: Invitation,
  });
