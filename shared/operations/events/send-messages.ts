// Messages for the queues of SQS.
import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { CALLS } from "../../platform/aws-calls.ts";

let client: SQSClient | undefined;

/** What SQS takes at once. */
const BATCH = 10;

/** The longest that SQS keeps a message back; a sweep finds what is due later. */
export const DELAY_SECONDS_MAX = 900;

interface Message {
  body: object;
  delaySeconds: number;
}

/** Sends messages to a queue of SQS. */
export async function sendMessages(QueueUrl: string, messages: readonly Message[]): Promise<void> {
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
