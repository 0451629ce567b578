// A webhook and its deliveries as they are stored. Each is in items of its own by how often it is written.
import * as z from "zod";
import type { Actor } from "../../api/fields.ts";
import { Delivery, Webhook, type WebhookFormat } from "../../api/webhooks.ts";
import { openEnum, stored } from "../../data/stored.ts";
import { count, counter, maybeText, noText, text } from "./fields.ts";

const { shape } = stored(Webhook.omit({ status: true, failing_since: true, last_delivery_at: true }));

export const WebhookRecord = z.object({
  ...shape,
  format: openEnum<WebhookFormat>(),
  account_id: text,
  /** Chat formats only, whose URL is a secret: encrypted here; `url` is what people see. */
  sealed_url: maybeText,
  /** Encrypted; chat formats have none. */
  secret: maybeText,
  /** The one before, and until when deliveries are signed with it, too. */
  previous_secret: z.object({ secret: text, until: text }).optional(),
  /** The user or token for whom it acts: it is sent what they may read. */
  acts_for: z.object({ type: openEnum<Actor["type"]>(), id: text }),
});
export type WebhookRecord = z.infer<typeof WebhookRecord>;

/** How its deliveries go. */
export const WebhookHealth = z.object({
  failing_since: noText,
  last_delivery_at: noText,
  /** Tries in a row without a response in time. */
  timeouts: counter,
  /** The times when it was last tested, in milliseconds since 1970. */
  tests: z.array(z.number()).default([]),
});
export type WebhookHealth = z.infer<typeof WebhookHealth>;

export const DeliveryRecord = stored(Delivery).extend({
  account_id: text,
  webhook_id: text,
  /** Tries since it was created, or redelivered. */
  attempt: counter,
  /** The time when it is removed, in seconds since 1970. */
  ttl: count,
});
export type DeliveryRecord = z.infer<typeof DeliveryRecord>;
