// A chat gets at most one message a minute about one resource and type of event: the rest is summed up in the next.
import * as z from "zod";
import { keys } from "../../data/keys.ts";
import { find, updateOne } from "../../data/table.ts";
import type { EventRecord } from "../../records/schemas/event.ts";
import type { WebhookRecord } from "../../records/schemas/webhook.ts";

const Sent = z.object({
  at: z.number(),
  suppressed: z.number().default(0),
  /** Which event it reported, and how many others: a run that was killed before it sent the message does it again. */
  event_id: z.string().optional(),
  also: z.number().default(0),
});
const PAUSE_MS = 60_000;

/** How many events a message sums up that is sent now; undefined if this event waits for the next message. */
export async function claimChatMessage(webhook: WebhookRecord, event: EventRecord, attempt: number): Promise<number | undefined> {
  if (attempt > 0) return 0; // its message is stored
  const key = keys.chatSent(webhook.account_id, webhook.id, `${event.resource.id}#${event.type}`);
  const at = Date.now();
  const sent = await find({ key, schema: Sent });
  const ttl = Math.floor(at / 1000) + 86_400;
  if (sent?.event_id === event.id) return sent.also;
  if (sent !== undefined && sent.at > at - PAUSE_MS) {
    await updateOne(key, { add: { suppressed: 1 }, set: { ttl } }, {});
    return undefined;
  }
  const also = sent?.suppressed ?? 0;
  await updateOne(key, { set: { at, suppressed: 0, event_id: event.id, also, ttl } }, { exists: false });
  return also;
}
