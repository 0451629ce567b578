// The queue between mails that are due and the function that sends them, and the one of those that could not be sent.
import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { CALLS } from "../../platform/aws-calls.ts";
import { variable } from "../../platform/env.ts";
import { dueTimeOf } from "../../records/mails.ts";
import { digestsDue } from "./digests.ts";

let client: SQSClient | undefined;

/** What SQS takes at once, and the longest that it waits; the sweep finds what is due later. */
const BATCH = 10;
const DELAY_SECONDS_MAX = 900;

/** Those that are due before the next sweep. */
const DIGEST_DELAY_SECONDS = 60;

const secondsTo = (time: number): number => Math.max(0, (time - Date.now()) / 1000);

/** Queues the mails at places that are due soon. */
export async function queueMails(places: readonly string[]): Promise<void> {
  const due = places
    .map((place) => ({ body: { place }, delaySeconds: secondsTo(dueTimeOf(place)) }))
    .filter(({ delaySeconds }) => delaySeconds <= DELAY_SECONDS_MAX);
  await send(variable("MAILS_QUEUE"), due);
}

/** Queues the digests that are due, or will be soon. */
export async function queueDigests(): Promise<void> {
  const digests = (await digestsDue())
    .map(({ user_id, at }) => ({ body: { digest: user_id }, delaySeconds: secondsTo(Date.parse(at)) }))
    .filter(({ delaySeconds }) => delaySeconds <= DIGEST_DELAY_SECONDS);
  if (digests.length > 0) await send(variable("MAILS_QUEUE"), digests);
}

/** For the operator, whom an alarm tells: what it was about, but neither for whom nor what it said. */
export const reportUnsent = (mail: { account_id: string; mail_id: string; type: string }): Promise<void> =>
  send(variable("UNSENT_QUEUE"), [{ body: mail, delaySeconds: 0 }]);

async function send(QueueUrl: string, messages: readonly { body: object; delaySeconds: number }[]): Promise<void> {
  // The endpoint is that of every other client: on one machine, the URL of a queue leads elsewhere.
  client ??= new SQSClient({ ...CALLS, useQueueUrlAsEndpoint: false });
  for (let from = 0; from < messages.length; from += BATCH) {
    const Entries = messages.slice(from, from + BATCH).map(({ body, delaySeconds }, index) => ({
      Id: String(index),
      MessageBody: JSON.stringify(body),
      DelaySeconds: Math.ceil(delaySeconds),
    }));
    await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
  }
}
