// Sends mails. Messages of the queue name a position in the queue of all mails, or a user whose digest is due; events of SES say
// which mailboxes bounce.
import * as z from "zod";
import { requestDigest } from "../../shared/operations/events/digests.ts";
import { sendMail } from "../../shared/runtime/send-mail.ts";
import { addressesIn } from "../../shared/mail/bounces.ts";
import { markMailboxBouncing } from "../../shared/records/users.ts";

const Messages = z.object({ Records: z.array(z.object({ body: z.string() })) });
const Message = z.union([z.object({ place: z.string() }), z.object({ digest: z.string() })]);

export async function handler(event: unknown): Promise<void> {
  const messages = Messages.safeParse(event).data;
  if (messages === undefined) for (const address of addressesIn(event)) await markMailboxBouncing(address);
  for (const { body } of messages?.Records ?? []) {
    const message = Message.parse(JSON.parse(body));
    await ("digest" in message ? requestDigest(message.digest) : sendMail(message.place));
  }
}
