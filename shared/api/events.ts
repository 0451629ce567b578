// The audit log of the account.
import * as z from "zod";
import { exampleId } from "../domain/id-kinds.ts";
import { HISTORY_DAYS } from "../domain/limits.ts";
import { endpoint } from "./endpoint.ts";
import * as fields from "./fields.ts";

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
  value: fields.integer(4).meta({ description: "What was measured: for `disk_free`, percent of the disk; otherwise bytes" }),
  threshold: fields.integer(5).meta({ description: "What it was compared with" }),
});
export type Alert = z.infer<typeof Alert>;

export const Event = z
  .object({
    id: fields.id("event"),
    type: z
      .string()
      .meta({ description: "What happened, as `resource.verb`; new types may appear", examples: ["server.create"] }),
    actor: fields.Actor.extend({
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
    created_at: fields.timestamp,
  })
  .meta({ id: "Event" });
export type Event = z.infer<typeof Event>;

export const list = () =>
  endpoint({
    path: "/events",
    summary: "List audit log events",
    description:
      "Returns the audit log, newest first: sign-ins, token changes, backup downloads and every other change, each with the actor, IP address and request ID. " +
      `Events are kept for ${HISTORY_DAYS} days.`,
    access: ["settings:read"],
    ...fields.listOf(Event, {
      type: z
        .string()
        .regex(/^[a-z_]{1,40}\.[a-z_]{1,40}$/, "must be an event's type such as server.create")
        .meta({ examples: ["server.create"], maxLength: 81 }),
      actor: fields.actorId.meta({ description: "Only events of this actor: the `actor.id` of an event" }),
      resource_id: z
        .string()
        .regex(/^[a-z]{1,20}_[0-9a-z]{26}$/, "must be the ID of a resource")
        .meta({ examples: [exampleId("server")], maxLength: 47 }),
    }),
  });
