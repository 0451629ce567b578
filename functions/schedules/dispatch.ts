// Forwards the outbox to webhooks: when the table's stream has a new item, and every minute, also for what the stream has missed
// and for tries that are due.
import * as z from "zod";
import { forwardEntries, readEntries, readOutbox } from "../../shared/operations/outbox.ts";
import { lanesDue, sendLanes } from "../../shared/operations/delivery-queue.ts";

/** The stream has only the key of each item, which leads to the item as it is now. */
const Stream = z.object({
  Records: z.array(
    z.object({ dynamodb: z.object({ Keys: z.object({ pk: z.object({ S: z.string() }), sk: z.object({ S: z.string() }) }) }) }),
  ),
});

export async function handler(event?: unknown): Promise<void> {
  const stream = Stream.safeParse(event).data;
  if (stream !== undefined) {
    const places = stream.Records.map(({ dynamodb: { Keys } }) => ({ pk: Keys.pk.S, sk: Keys.sk.S }));
    return sendLanes(await forwardEntries(await readEntries(places)));
  }
  await sendLanes(await forwardEntries(await readOutbox()));
  await sendLanes(await lanesDue());
}
