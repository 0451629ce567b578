// Forwards the outbox to webhooks, and mails to the function that sends them: when the table's stream has a new item, and every
// minute, also for what the stream has missed and for tries that are due. Each minute, it also makes events of what the
// authorizer has noted.
import * as z from "zod";
import { isMailed } from "../../shared/operations/events/event-mails.ts";
import { forwardEntries, readEntries, readOutbox } from "../../shared/operations/events/outbox.ts";
import { lanesDue, sendLanes } from "../../shared/operations/events/delivery-queue.ts";
import { queueDigests, queueMails } from "../../shared/operations/events/mail-queue.ts";
import { keys } from "../../shared/data/keys.ts";
import { mailsDue } from "../../shared/records/mails.ts";
import { reportOutsideUses } from "../../shared/operations/credentials/outside-events.ts";

/** The stream has only the key of each item, which leads to the item as it is now. */
const Stream = z.object({
  Records: z.array(
    z.object({ dynamodb: z.object({ Keys: z.object({ pk: z.object({ S: z.string() }), sk: z.object({ S: z.string() }) }) }) }),
  ),
});

export async function handler(event?: unknown): Promise<void> {
  const stream = Stream.safeParse(event).data;
  if (stream !== undefined) {
    const entryKeys = stream.Records.map(({ dynamodb: { Keys } }) => ({ pk: Keys.pk.S, sk: Keys.sk.S }));
    const isMail = ({ pk }: { pk: string }): boolean => pk === keys.mailsDue();
    await queueMails(entryKeys.filter(isMail).map(({ sk }) => sk));
    const entries = await readEntries(entryKeys.filter((key) => !isMail(key)));
    await sendLanes(await forwardEntries(entries));
    if (entries.some(({ type }) => isMailed(type))) await queueDigests();
    return;
  }
  await queueMails(await mailsDue());
  await sendLanes(await forwardEntries(await readOutbox()));
  await queueDigests();
  await sendLanes(await lanesDue());
  await reportOutsideUses(); // last: however many there are, mails and webhooks do not wait for them
}
