// The people of an account: who may sign in, and what they may do.
import * as z from "zod";
import { endpoint } from "./endpoint.ts";
import { lastOwner, mustBeOneOf, ownFactors, roleRequired } from "./errors.ts";
import * as fields from "./fields.ts";
import { ALL_PERMISSIONS } from "./permissions.ts";
import { ROLES } from "./roles.ts";

export const userName = fields.text(100, "Ada Lovelace");

export const role = z.enum(ROLES, mustBeOneOf(ROLES)).meta({
  description:
    "`owner` may do everything, `admin` everything but change owners and single sign-on, `operator` everything but change settings, people and tokens, `viewer` only look; `custom` has `permissions` of its own",
  examples: ["custom"],
});

/** Permissions of a custom role, as a request sets them. */
export const customPermissions = z
  .array(z.enum(ALL_PERMISSIONS, mustBeOneOf(ALL_PERMISSIONS)))
  .min(1, "must contain at least one permission")
  .refine((names) => new Set(names).size === names.length, "must not contain duplicates")
  .meta({
    description: "Only with the role `custom`, which needs them",
    examples: [["servers:read", "instances:read"]],
    maxItems: ALL_PERMISSIONS.length,
    uniqueItems: true,
  });

export const grantedPermissions = z
  .array(z.enum(ALL_PERMISSIONS))
  .meta({ description: "What the role permits", examples: [["servers:read", "instances:read"]] });

/** What the user is told by mail; what concerns their own sign-in always is. */
export const NOTIFIED = ["none", "alerts", "all"] as const;

const Notifications = z.strictObject({ email: z.enum(NOTIFIED, mustBeOneOf(NOTIFIED)) }).meta({
  description:
    "`alerts`: alerts, and API tokens that expire soon; `all`: failed operations, too. By default `alerts` for owners and admins, and `none` for everybody " +
    "else. Each only about what the user may read",
  examples: [{ email: "all" }],
});

export const AccountUser = z
  .object({
    id: fields.id("user"),
    email: z.string().meta({ examples: ["ada@example.com"] }),
    email_unicode: fields.emailUnicode.meta({ examples: ["ada@example.com"] }),
    name: userName,
    role,
    permissions: grantedPermissions,
    notifications: Notifications,
    second_factors: z
      .object({
        passkeys: fields.integer(1),
        totp: z.boolean().meta({ description: "Whether they have an authenticator app", examples: [true] }),
        recovery_codes_left: fields.integer(10),
      })
      .nullable()
      .meta({ description: "Null for all but owners, admins and the user", examples: [null] }),
    sso: z.boolean().meta({ description: "Whether they sign in with single sign-on", examples: [false] }),
    email_status: z
      .enum(["ok", "bouncing"])
      .nullable()
      .meta({
        description:
          "`bouncing`: the mailbox does not take mail, so the user only gets what they ask for. Null for all but owners, admins and the user",
        examples: [null],
      }),
    last_sign_in_at: fields.timestamp.nullable().meta({
      description: "Null if they have not signed in yet, and for all but owners, admins and the user",
      examples: [null],
    }),
    created_at: fields.timestamp,
  })
  .meta({ id: "AccountUser" });
export type AccountUser = z.infer<typeof AccountUser>;

export const USER_UNVERSIONED = ["email_status", "email_unicode", "last_sign_in_at", "second_factors", "sso"];

export const list = () =>
  endpoint({
    path: "/users",
    summary: "List users",
    description: "Returns the people of the account, newest first.",
    access: ["settings:read"],
    ...fields.resourceListOf("user", AccountUser, {}),
  });

export const get = () =>
  endpoint({
    method: "GET",
    path: "/users/:id",
    summary: "Show a user",
    description: "Returns a person of the account, with their role and what it allows.",
    access: ["settings:read"],
    unversioned: USER_UNVERSIONED,
    data: AccountUser,
  });

export const update = () =>
  endpoint({
    method: "PUT",
    path: "/users/:id",
    summary: "Change a user",
    description:
      "Everybody may change their own name and notifications. All else needs the role owner or admin, and owners can only be changed, and made, by owners. Nobody grants more than " +
      "they may do themselves. A changed role holds for the very next request of every session of the user.",
    access: "session",
    proof: ({ id, body, callerId }) => id !== callerId || body["role"] !== undefined || body["permissions"] !== undefined,
    unversioned: USER_UNVERSIONED,
    errors: () => [roleRequired("admin"), roleRequired("owner"), lastOwner()],
    body: fields.atLeastOne({
      name: userName.optional(),
      role: role.optional(),
      permissions: customPermissions.optional(),
      notifications: Notifications.optional(),
    }),
    data: AccountUser,
  });

export const deleteSecondFactors = () =>
  endpoint({
    method: "DELETE",
    path: "/users/:id/second-factors",
    summary: "Remove a user's second factors",
    description:
      "For a user who has lost them: removes all their passkeys, their authenticator app and their recovery codes. Both of you get a mail. Their sessions and " +
      "their password stay. Your own: `DELETE /auth/second-factors/:id`.",
    access: "session",
    role: "owner",
    proof: () => true,
    conditional: false,
    errors: () => [ownFactors()],
    data: fields.deleted("user"),
  });

const deleteOne = () =>
  endpoint({
    method: "DELETE",
    path: "/users/:id",
    summary: "Remove a user",
    description:
      "Ends all of the user's sessions. API tokens belong to the account: those that the user created keep working, and are named in `tokens`, unless you " +
      "revoke them with `revoke_tokens=true`. Only owners can remove an owner.",
    access: "session",
    proof: () => true,
    role: "admin",
    errors: () => [roleRequired("owner"), lastOwner()],
    query: z.strictObject({
      revoke_tokens: z
        .enum(["true", "false"])
        .optional()
        .meta({ description: "Whether to revoke the tokens that the user created, too", examples: ["true"] }),
    }),
    data: fields.deleted("user").extend({
      tokens: z
        .array(z.object({ id: fields.id("token"), name: z.string().meta({ examples: ["Deploy pipeline"] }) }))
        .meta({ description: "The API tokens that the user created" }),
    }),
  });
export { deleteOne as delete };
