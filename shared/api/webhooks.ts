// Webhooks: URLs that are sent events as they happen, and what became of each delivery.
import * as z from "zod";
import { DELIVERY_STATUSES } from "../domain/lifecycle.ts";
import { DEFAULT_QUOTAS, WEBHOOK } from "../domain/limits.ts";
import { isPattern } from "./subscriptions.ts";
import { endpoint } from "./endpoint.ts";
import { EVENT_TYPE } from "./events.ts";
import { deliveryPending, noWebhookSecret, overQuota, tooManyTests, webhookDisabled } from "./errors.ts";
import * as fields from "./fields.ts";

export const WEBHOOK_FORMATS = ["json", "slack", "teams", "discord"] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** Whatever else a URL must not be depends on the environment. */
const URL_FORM = /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^ ]+$/;

const URL_MAX = 2_048;
const URL_TOO_LONG = `must have at most ${URL_MAX} characters`;

/** How many characters a URL has as it is stored: those that are not ASCII take more. */
const storedLength = (sent: string): number => (URL.canParse(sent) ? new URL(sent).href : sent).length;

const url = z
  .string()
  .max(URL_MAX, { error: URL_TOO_LONG, abort: true })
  .regex(URL_FORM, "must be https")
  .refine((sent) => storedLength(sent) <= URL_MAX, URL_TOO_LONG)
  .meta({
    description:
      "Where deliveries are sent: `https`, port 443 or 8443, a public address. In `test`, `flaky.example`, `slow.example` and `fail-410.example` stand for receivers",
    examples: ["https://flaky.example/hooks"],
  });

const events = z
  .array(
    z
      .string()
      .max(100)
      .refine(isPattern, "must be a type of event, a prefix such as backup.*, alerts, changes or *")
      .meta({ pattern: "^(?:\\*|alerts|changes|[a-z_]+(?:\\.[a-z_]+){0,2}(?:\\.\\*)?)$", maxLength: 100 }),
  )
  .min(1, "must contain at least one")
  .max(50, "must contain at most 50")
  .meta({
    description:
      "Types of events (docs/events.md), prefixes such as `backup.*`, `changes` (how operations ended), `alerts` (what somebody should look at), or `*`",
    examples: [["settings.update", "token.create"]],
    minItems: 1,
    maxItems: 50,
  });

export const Webhook = z
  .object({
    id: fields.id("webhook"),
    name: fields.text(64, "Ticket system"),
    url: z.string().meta({
      description: "Of a chat format, whose URL is a secret, only the scheme, the host and the last four characters",
      examples: ["https://flaky.example/hooks"],
    }),
    format: z.enum(WEBHOOK_FORMATS).meta({ examples: ["json"] }),
    events: z.array(z.string()).meta({ examples: [["settings.update", "token.create"]] }),
    enabled: z.boolean().meta({ examples: [true] }),
    status: z.enum(["ok", "failing", "disabled"]).meta({ description: "`failing`: the last try failed", examples: ["ok"] }),
    disabled_reason: z
      .string()
      .nullable()
      .meta({
        description:
          "Why the service disabled it: `gone` (the receiver responded 410), `failing` (five days without a success), `credential` (whoever set it up " +
          "may no longer read what it is sent); new values may appear",
        examples: [null],
      }),
    failing_since: fields.timestamp.nullable().meta({ examples: [null] }),
    last_delivery_at: fields.timestamp.nullable().meta({ description: "To within a minute", examples: [null] }),
    created_at: fields.timestamp,
    updated_at: fields.timestamp,
  })
  .meta({ id: "Webhook" });
export type Webhook = z.infer<typeof Webhook>;

export const WEBHOOK_UNVERSIONED = ["status", "failing_since", "last_delivery_at"];

const secret = z
  .string()
  .nullable()
  .meta({
    description: "Signs deliveries (Standard Webhooks). Shown only in this response; null for chat formats",
    examples: ["whsec_…"],
  });

export const WithSecret = Webhook.extend({ secret }).meta({ id: "NewWebhook" });

const Try = z.object({
  at: fields.timestamp,
  duration_ms: fields.integer(87),
  http_status: z
    .number()
    .int()
    .nullable()
    .meta({ description: "Null if there was no response", examples: [200] }),
  error: z
    .string()
    .nullable()
    .meta({ description: "Why there was no response, or why nothing was sent", examples: [null] }),
  reason: fields.reason.optional(),
  response_excerpt: z
    .string()
    .nullable()
    .meta({ description: "The beginning of the response", examples: ["ok"] }),
});
export type Try = z.infer<typeof Try>;

export const Delivery = z
  .object({
    id: fields.id("delivery"),
    event_id: fields.id("event"),
    event_type: z.string().meta({ examples: ["server.create.succeeded"] }),
    status: z.enum(DELIVERY_STATUSES).meta({ examples: ["delivered"] }),
    tries: z.array(Try),
    next_try_at: fields.timestamp.nullable().meta({ examples: [null] }),
    created_at: fields.timestamp,
  })
  .meta({ id: "Delivery" });
export type Delivery = z.infer<typeof Delivery>;

export const list = () =>
  endpoint({
    path: "/webhooks",
    summary: "List webhooks",
    description: "Returns the account's webhooks, newest first, without their secrets.",
    access: ["settings:read"],
    ...fields.resourceListOf("webhook", Webhook, {}),
  });

export const create = () =>
  endpoint({
    method: "POST",
    path: "/webhooks",
    summary: "Create a webhook",
    description:
      "Only this response contains the secret. Besides `settings:write`, you need the read permission of every kind of resource whose events it is sent: " +
      "`servers:read`, `instances:read` and `backups:read` for groups and `*`. The webhook is sent only what you may read, for as long as you may.",
    access: ["settings:write"],
    proof: () => true,
    status: 201,
    errors: () => [overQuota("webhook", DEFAULT_QUOTAS.webhook)],
    body: z.strictObject({
      name: fields.text(64, "Ticket system"),
      url,
      format: z
        .enum(WEBHOOK_FORMATS)
        .default("json")
        .meta({ description: "`json` is signed; the others are messages of a chat", examples: ["json"] }),
      events,
      enabled: z
        .boolean()
        .default(true)
        .meta({ examples: [true] }),
    }),
    data: WithSecret,
  });

export const get = () =>
  endpoint({
    method: "GET",
    path: "/webhooks/:id",
    summary: "Show a webhook",
    description: "Shows how its deliveries go, without its secret.",
    access: ["settings:read"],
    unversioned: WEBHOOK_UNVERSIONED,
    data: Webhook,
  });

export const update = () =>
  endpoint({
    method: "PUT",
    path: "/webhooks/:id",
    summary: "Update a webhook",
    description:
      "Fields that you leave out stay as they are. Whoever changes `url` or `events`, or enables the webhook, is the one for whom it acts from then on.",
    access: ["settings:write"],
    proof: ({ body }) => body["url"] !== undefined,
    unversioned: WEBHOOK_UNVERSIONED,
    body: fields.atLeastOne({
      name: fields.text(64, "Ticket system").optional(),
      url: url.optional(),
      events: events.optional(),
      enabled: z
        .boolean()
        .optional()
        .meta({ examples: [true] }),
    }),
    data: Webhook,
  });

const deleteOne = () =>
  endpoint({
    method: "DELETE",
    path: "/webhooks/:id",
    summary: "Delete a webhook",
    description: "Takes effect immediately, also for pending deliveries.",
    access: ["settings:write"],
    data: fields.deleted("webhook"),
  });
export { deleteOne as delete };

export const test = () =>
  endpoint({
    method: "POST",
    path: "/webhooks/:id/test",
    summary: "Test a webhook",
    description: `Sends the event \`webhook.test\` now, and returns the delivery after its one try. At most ${WEBHOOK.testsAMinute} a minute.`,
    access: ["settings:write"],
    errors: () => [webhookDisabled(), tooManyTests(60)],
    body: z.strictObject({}),
    data: Delivery,
  });

export const rotateSecret = () =>
  endpoint({
    method: "POST",
    path: "/webhooks/:id/rotate-secret",
    summary: "Rotate a webhook's secret",
    description: "Only this response contains the new secret. For 24 hours, deliveries are signed with both.",
    access: ["settings:write"],
    proof: () => true,
    errors: () => [noWebhookSecret("ok")],
    body: z.strictObject({}),
    data: WithSecret,
  });

export const listDeliveries = () =>
  endpoint({
    path: "/webhooks/:id/deliveries",
    summary: "List a webhook's deliveries",
    description: `Returns the deliveries of the last ${WEBHOOK.deliveryDays} days, newest first. At most ${WEBHOOK.listedMax} are listed.`,
    access: ["settings:read"],
    ...fields.resourceListOf("delivery", Delivery, {
      status: z.enum(DELIVERY_STATUSES).meta({ examples: ["failed"] }),
      event_type: z
        .string()
        .max(122)
        .regex(EVENT_TYPE, "must be an event's type such as server.create.failed")
        .meta({ examples: ["server.create.failed"], maxLength: 122 }),
    }),
  });

export const getDelivery = () =>
  endpoint({
    method: "GET",
    path: "/webhooks/:id/deliveries/:delivery_id",
    summary: "Show a delivery",
    description: "Shows every try, with the beginning of each response.",
    access: ["settings:read"],
    data: Delivery,
  });

export const redeliver = () =>
  endpoint({
    method: "POST",
    path: "/webhooks/:id/deliveries/:delivery_id/redeliver",
    summary: "Redeliver a delivery",
    description: "Sends the same body again, with the same `webhook-id`.",
    access: ["settings:write"],
    errors: () => [webhookDisabled(), deliveryPending()],
    body: z.strictObject({}),
    data: Delivery,
  });

export const redeliverFailed = () =>
  endpoint({
    method: "POST",
    path: "/webhooks/:id/redeliver",
    summary: "Redeliver what failed",
    description: `Sends all deliveries again that failed since a time, at most ${WEBHOOK.redeliveredMax}, oldest first.`,
    access: ["settings:write"],
    errors: () => [webhookDisabled()],
    body: z.strictObject({ since: fields.time.meta({ examples: ["2026-11-20T12:00:00.000Z"] }) }),
    data: z.object({ count: fields.integer(3, "How many are sent again") }),
  });
