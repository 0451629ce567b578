// Settings of the account, and its audit log.
import * as z from "zod";
import { PolicyFields, PolicyShown } from "./backup-policy.ts";
import { endpoint } from "./endpoint.ts";
import { HISTORY_DAYS } from "../domain/limits.ts";
import { exampleId } from "../domain/id-kinds.ts";
import { Actor, actorId, atLeastOne, code, email, emailInput, id, integer, listOf, text, timestamp } from "./fields.ts";

const settable = {
  account_name: text(100, "Example Ltd"),
  contact_email: email,
  default_provider: code("sandbox"),
  default_region: code("eu-central"),
  backup_retention_days: z
    .number("must be a whole number")
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(365, "must be at most 365")
    .meta({ description: "Days to keep safety backups", examples: [14] }),
};

const Quota = z.object({
  used: integer(1),
  limit: integer(10),
});

export const Settings = z
  .object({
    ...settable,
    contact_email: settable.contact_email.nullable(),
    default_provider: settable.default_provider.nullable(),
    default_region: settable.default_region.nullable(),
    default_backup_policy: PolicyShown.nullable().meta({
      description: "Copied to every new instance except neutralized clones",
      examples: [null],
    }),
    quotas: z.object({
      servers: Quota,
      instances: Quota,
      tokens: Quota,
      ssh_keys: Quota,
      users: Quota,
      backups: Quota.meta({ description: "Backups of any status" }),
      backup_bytes: Quota.meta({ description: "Bytes of all backups and uploads" }),
    }),
    updated_at: timestamp,
  })
  .meta({ id: "Settings" });
export type Settings = z.infer<typeof Settings>;

/** Fields that follow from other records: how much of each quota is used. */
export const SETTINGS_UNVERSIONED = ["quotas"];

export const settings = {
  get: endpoint({
    method: "GET",
    path: "/settings",
    summary: "Show the account's settings and quotas",
    description: "Also returns the account's quota for each kind of resource and how much of it is used.",
    access: ["settings:read"],
    unversioned: SETTINGS_UNVERSIONED,
    data: Settings,
  }),
  update: endpoint({
    method: "PUT",
    path: "/settings",
    summary: "Change the account's settings",
    description: "Fields that you leave out keep their value; null clears an optional field.",
    access: ["settings:write"],
    unversioned: SETTINGS_UNVERSIONED,
    body: atLeastOne({
      account_name: settable.account_name.optional(),
      contact_email: emailInput.nullable().optional(),
      default_provider: settable.default_provider.nullable().optional(),
      default_region: settable.default_region.nullable().optional(),
      backup_retention_days: settable.backup_retention_days.optional(),
      default_backup_policy: PolicyFields.nullable().optional(),
    }),
    data: Settings,
  }),
};

const FieldChange = z.object({
  field: z.string().meta({ examples: ["name"] }),
  before: z
    .unknown()
    .optional()
    .meta({ description: "Null if it had none", examples: ["erp-1"] }),
  after: z
    .unknown()
    .optional()
    .meta({ description: "Null if it has none now", examples: ["erp-2"] }),
});
export type FieldChange = z.infer<typeof FieldChange>;

const Alert = z.object({
  kind: z.string().meta({
    description: "`disk_free`, of a server; `disk_quota` and `disk_paused`, of an instance; new kinds may appear",
    examples: ["disk_free"],
  }),
  value: integer(4).meta({ description: "What was measured: for `disk_free`, percent of the disk; otherwise bytes" }),
  threshold: integer(5).meta({ description: "What it was compared with" }),
});
export type Alert = z.infer<typeof Alert>;

export const Event = z
  .object({
    id: id("event"),
    type: z
      .string()
      .meta({ description: "What happened, as `resource.verb`; new types may appear", examples: ["server.create"] }),
    actor: Actor.extend({
      ip_address: z
        .string()
        .nullable()
        .meta({ description: "IP address that the request came from", examples: ["198.51.100.7"] }),
    }),
    resource: z.object({
      type: z.string().meta({ examples: ["server"] }),
      id: z.string().meta({ examples: ["srv_01kag8w1s2e7tv8q4m5n6p7r8s"] }),
      name: z
        .string()
        .nullable()
        .meta({ examples: ["erp-1"] }),
    }),
    request_id: z.string().meta({ examples: ["3f0c6e2a-8f1b-4d55-9b1e-6c1f2a7d9e10"] }),
    data: z
      .object({
        changes: z.array(FieldChange).optional().meta({
          description:
            "What changed, if the credential may read the resource. Without values, those are secret, or all changes have more than 4 KB",
        }),
        alert: Alert.optional().meta({ description: "Of an alert that opens or closes" }),
      })
      .optional()
      .meta({ description: "Only of changes to a resource's fields, and of alerts" }),
    created_at: timestamp,
  })
  .meta({ id: "Event" });
export type Event = z.infer<typeof Event>;

export const events = {
  list: endpoint({
    path: "/events",
    summary: "List audit log events",
    description:
      "Returns the audit log, newest first: sign-ins, token changes, backup downloads and every other change, each with the actor, IP address and request ID. " +
      `Events are kept for ${HISTORY_DAYS} days.`,
    access: ["settings:read"],
    ...listOf(Event, {
      type: z
        .string()
        .regex(/^[a-z_]{1,40}\.[a-z_]{1,40}$/, "must be an event's type such as server.create")
        .meta({ examples: ["server.create"], maxLength: 81 }),
      actor: actorId.meta({ description: "Only events of this actor: the `actor.id` of an event" }),
      resource_id: z
        .string()
        .regex(/^[a-z]{1,20}_[0-9a-z]{26}$/, "must be the ID of a resource")
        .meta({ examples: [exampleId("server")], maxLength: 47 }),
    }),
  }),
};
