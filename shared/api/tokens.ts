// API tokens: created and revoked in a dashboard session, shown once.
import * as z from "zod";
import { exampleId } from "../domain/id-kinds.ts";
import { DEFAULT_QUOTAS } from "../domain/limits.ts";
import { endpoint } from "./endpoint.ts";
import * as fields from "./fields.ts";
import { ALL_PERMISSIONS } from "./permissions.ts";
import { mustBeOneOf, overQuota, taken } from "./errors.ts";

const permissions = z.array(z.enum(ALL_PERMISSIONS, mustBeOneOf(ALL_PERMISSIONS)));

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
  })
  .meta({ id: "Token" });
export type Token = z.infer<typeof Token>;

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
    role: "admin",
    status: 201,
    errors: () => [taken("name", exampleId("token")), overQuota("token", DEFAULT_QUOTAS.token)],
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
          description: "A time in the future. Leave it out, or send null, for a token that never expires.",
          examples: ["2027-11-20T12:00:00.000Z"],
        }),
    }),
    data: Token.extend({
      token: z.string().meta({ description: "The full token, shown only once", examples: ["svc_test_…"] }),
    }).meta({
      id: "NewToken",
    }),
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
