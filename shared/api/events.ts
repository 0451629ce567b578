// The audit log of the account.
import * as z from "zod";
import { EVENT_CLASSES } from "../domain/event-types.ts";
import { exampleId } from "../domain/id-kinds.ts";
import { HISTORY_DAYS } from "../domain/limits.ts";
import { Alert } from "./alerts.ts";
import { endpoint } from "./endpoint.ts";
import * as fields from "./fields.ts";
import { ROLES, SIGNED_IN_WITH } from "./roles.ts";

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

export const OperationOutcome = z.object({
  id: z.string().meta({ examples: [exampleId("operation")] }),
  type: z.string().meta({ examples: ["server.create"] }),
  status: z.string().meta({ description: "`succeeded` or `failed`; new values may appear", examples: ["failed"] }),
  error: z
    .object({
      code: z.string().meta({ examples: ["PROVIDER_QUOTA_EXCEEDED"] }),
      message: z.string().meta({ examples: ["The provider's server limit is reached"] }),
      reason: fields.Reason.nullable().optional().meta({ description: "The message as a code with its parameters, or null" }),
    })
    .nullable()
    .meta({ description: "Null if it succeeded; of a check of code that led to no deploy, the first problem that it found" }),
  duration_seconds: fields.integer(74).meta({ description: "From the request to the end" }),
});
export type OperationOutcome = z.infer<typeof OperationOutcome>;

const Expiry = z.object({
  expires_at: fields.timestamp,
  days: fields.integer(14, "The step of `token_expiry_days` that it has reached"),
});
export type Expiry = z.infer<typeof Expiry>;

export const Event = z
  .object({
    id: fields.id("event"),
    type: z.string().meta({
      description: "What happened, as `resource.verb`; outcomes of operations as `server.create.succeeded`. New types may appear",
      examples: ["server.create"],
    }),
    actor: fields.Actor.extend({
      ip_address: z
        .string()
        .nullable()
        .meta({ description: "IP address that the request came from", examples: ["198.51.100.7"] }),
      role: z
        .enum(ROLES)
        .optional()
        .meta({
          description: "The role that a user had then; absent for others, and in older events",
          examples: ["admin"],
        }),
      signed_in_with: z
        .enum(SIGNED_IN_WITH)
        .optional()
        .meta({
          description:
            "How the user's session was opened: with the password alone, the second factor or single sign-on; absent for others, and in older events",
          examples: ["passkey"],
        }),
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
    operation_id: z
      .string()
      .nullable()
      .meta({ description: "The operation that it started, or whose outcome it is", examples: [exampleId("operation")] }),
    data: z
      .object({
        changes: z.array(FieldChange).optional().meta({
          description:
            "What changed, if the credential may read the resource. Without values, those are secret, or all changes have more than 4 KB",
        }),
        alert: Alert.optional().meta({ description: "Of an alert that opens or closes" }),
        operation: OperationOutcome.optional().meta({
          description:
            "Of an operation that has ended; in the audit log, of the one that the request began; of a push that was dropped, its check of the code",
        }),
        expiry: Expiry.optional().meta({ description: "Of an API token that expires soon" }),
      })
      .nullable()
      .meta({
        description:
          "Null if there is no more to say, or if the credential may not read the resource. Present for changes to a resource's fields, alerts, " +
          "outcomes of operations and API tokens that expire soon",
      }),
    created_at: fields.timestamp,
  })
  .meta({ id: "Event" });
export type Event = z.infer<typeof Event>;

/** Two or three parts. */
export const EVENT_TYPE = /^[a-z_]{1,40}(?:\.[a-z_]{1,40}){1,2}$/;

export const list = () =>
  endpoint({
    path: "/events",
    summary: "List events",
    description:
      "Returns one of two lists, newest first. The audit log (`class=audit`) says what people, API tokens and schedules asked for: sign-ins, token changes, " +
      "backup downloads and every other change, each with the actor, IP address and request ID. `class=outcomes` says what came of it: how operations " +
      "ended, which servers went offline, which ERPs stopped responding, which alerts opened and closed. " +
      `Events are kept for ${HISTORY_DAYS} days.`,
    access: ["settings:read"],
    ...fields.listOf(Event, {
      class: z
        .enum(EVENT_CLASSES)
        .meta({ description: "Which list; by default the one that has the `type`, or `audit`", examples: ["outcomes"] }),
      type: z
        .string()
        .regex(EVENT_TYPE, "must be an event's type such as server.create")
        .meta({ examples: ["server.create"], maxLength: 122 }),
      actor: fields.actorId.meta({ description: "Only events of this actor: the `actor.id` of an event" }),
      resource_id: z
        .string()
        .regex(/^[a-z]{1,20}_[0-9a-z]{26}$/, "must be the ID of a resource")
        .meta({ examples: [exampleId("server")], maxLength: 47 }),
    }),
  });
