// API tokens: created and revoked in a dashboard session, shown once.
import * as z from "zod";
import { exampleId } from "../domain/id-kinds.ts";
import { ALLOWED_IPS_MAX, DEFAULT_QUOTAS, TOKEN_OVERLAP_HOURS } from "../domain/limits.ts";
import { endpoint } from "./endpoint.ts";
import * as fields from "./fields.ts";
import { networks } from "./networks.ts";
import { ALL_PERMISSIONS } from "./permissions.ts";
import { mustBeOneOf, overQuota, tokenRotated, valueTaken } from "./errors.ts";

const permissions = z.array(z.enum(ALL_PERMISSIONS, mustBeOneOf(ALL_PERMISSIONS)));

const another = (description: string) =>
  fields
    .id("token")
    .nullable()
    .meta({ description, examples: [null] });

export const Token = z
  .object({
    id: fields.id("token"),
    name: fields.text(64, "Deploy pipeline"),
    prefix: z.enum(["svc_live_", "svc_test_"]).meta({ examples: ["svc_test_"] }),
    last4: z.string().meta({ description: "Last four characters of the token, to identify it", examples: ["x7Qz"] }),
    permissions: permissions.meta({ examples: [["servers:read", "instances:read"]] }),
    created_at: fields.timestamp,
    created_by: fields.Actor,
    last_used_at: fields.timestamp.nullable().meta({ examples: [null] }),
    last_used_ip: z
      .string()
      .nullable()
      .meta({ examples: [null] }),
    expires_at: fields.timestamp.nullable().meta({ examples: [null] }),
    allowed_ips: z
      .array(z.string())
      .meta({ description: "The networks that the token works from; empty: from everywhere", examples: [["192.0.2.0/24"]] }),
    replaces: another("The token that this one replaces, after a rotation"),
    replaced_by: another("The token that replaces this one, after a rotation"),
  })
  .meta({ id: "Token" });
export type Token = z.infer<typeof Token>;

const NewToken = Token.extend({
  token: z.string().meta({ description: "The full token, shown only once", examples: ["svc_test_…"] }),
}).meta({
  id: "NewToken",
});

/** Fields that change when the token is used. */
export const TOKEN_UNVERSIONED = ["last_used_at", "last_used_ip"];

export const list = () =>
  endpoint({
    path: "/tokens",
    summary: "List API tokens",
    description: "Returns the account's API tokens, newest first, without their values.",
    access: "session",
    ...fields.resourceListOf("token", Token, {}),
  });

export const create = () =>
  endpoint({
    method: "POST",
    path: "/tokens",
    summary: "Create an API token",
    description: "Only this response contains the full token. You cannot retrieve it later.",
    access: "session",
    proof: () => true,
    role: "admin",
    status: 201,
    errors: () => [valueTaken("name", exampleId("token")), overQuota("token", DEFAULT_QUOTAS.token)],
    body: z.strictObject({
      name: fields.text(64, "Deploy pipeline"),
      permissions: permissions
        .min(1, "must contain at least one permission")
        .refine((names) => new Set(names).size === names.length, "must not contain duplicates")
        .meta({ examples: [["servers:read", "instances:read"]], maxItems: ALL_PERMISSIONS.length, uniqueItems: true }),
      expires_at: fields.time
        .nullable()
        .optional()
        .meta({
          description:
            "A time in the future; null for a token that never expires. Left out, it is the latest that the account allows (`token_max_days`), or null.",
          examples: ["2027-11-20T12:00:00.000Z"],
        }),
      allowed_ips: networks.optional().meta({
        description:
          "The networks that the token works from, in CIDR notation; an IPv4 address is a network of its own. From anywhere else, it is rejected as an " +
          "unknown token is, with `401`. Left out or empty: from everywhere",
        examples: [["192.0.2.0/24", "2001:db8::/64"]],
        maxItems: ALLOWED_IPS_MAX,
      }),
    }),
    data: NewToken,
  });

export const rotate = () =>
  endpoint({
    method: "POST",
    path: "/tokens/:id/rotate",
    summary: "Rotate an API token",
    description: `Creates a token with the same name, permissions, networks and lifetime, and returns its value once. The old token works for \`overlap_hours\` longer. Webhooks that act for the old token act for the new one. A token can be rotated once; then rotate its successor.

The new token is another credential, with \`Idempotency-Key\`s of its own: finish requests that you repeat with a key before you change to it.`,
    access: "session",
    proof: () => true,
    role: "admin",
    status: 201,
    errors: () => [tokenRotated(), overQuota("token", DEFAULT_QUOTAS.token)],
    body: z.strictObject({
      overlap_hours: z
        .int()
        .min(0)
        .max(TOKEN_OVERLAP_HOURS.max)
        .default(TOKEN_OVERLAP_HOURS.usual)
        .meta({ description: "How long both work; 0 ends the old one at once", examples: [TOKEN_OVERLAP_HOURS.usual] }),
    }),
    data: NewToken,
  });

export const get = () =>
  endpoint({
    method: "GET",
    path: "/tokens/:id",
    summary: "Show an API token",
    description: "Shows when and from where it was last used. The token itself is never shown again.",
    access: "session",
    unversioned: TOKEN_UNVERSIONED,
    data: Token,
  });

const deleteOne = () =>
  endpoint({
    method: "DELETE",
    path: "/tokens/:id",
    summary: "Revoke an API token",
    description: "Takes effect immediately: the next request with the token gets `401`.",
    access: "session",
    role: "admin",
    data: fields.deleted("token"),
  });
export { deleteOne as delete };
