// A chat gets at most one message a minute about one resource and type of event: the rest is summed up in the next.
import * as z from "zod";
import { keys } from "../../data/keys.ts";
import { find, updateOne } from "../../data/table.ts";
import type { EventRecord } from "../../records/schemas/event.ts";
import type { WebhookRecord } from "../../records/schemas/webhook.ts";
import { DAY_SECONDS, MINUTE_MS } from "../../domain/durations.ts";
import { ttlAfter } from "../../data/ttl.ts";

const Sent = z.object({
  at: z.number(),
  suppressed: z.number().default(0),
  /** Which event it reported, and how many others: a run that was killed before it sent the message does it again. */
  event_id: z.string().optional(),
  also: z.number().default(0),
});
const PAUSE_MS = MINUTE_MS;
/** At most three deliveries of a webhook are sent at a time, and what one has claimed, the others join. */
const CLAIM_TRIES = 5;

/** How many other events a message sums up that is sent now; undefined if this event waits for the next message. */
export async function claimChatMessage(
  webhook: Pick<WebhookRecord, "id" | "account_id">,
  event: Pick<EventRecord, "id" | "type" | "resource">,
): Promise<number | undefined> {
  const key = keys.chatSent(webhook.account_id, webhook.id, `${event.resource.id}#${event.type}`);
  for (let attempt = 1; attempt <= CLAIM_TRIES; attempt++) {
    const at = Date.now();
    const sent = await find({ key, schema: Sent });
    const ttl = ttlAfter(DAY_SECONDS, at);
    if (sent?.event_id === event.id) return sent.also;
    if (sent !== undefined && sent.at > at - PAUSE_MS) {
      await updateOne(key, { add: { suppressed: 1 }, set: { ttl } }, {});
      return undefined;
    }
    const also = sent?.suppressed ?? 0;
    const asRead = { exists: false, same: { at: sent?.at }, unchanged: { suppressed: also } };
    const { done } = await updateOne(key, { set: { at, suppressed: 0, event_id: event.id, also, ttl } }, asRead);
    if (done) return also;
  }
  throw new Error(`Could not claim a message of ${webhook.id} in ${CLAIM_TRIES} tries`);
}
