// SQS and the table's stream on this machine, as far as functions are invoked by them. Both are in memory: what is lost when the
// service stops is found again by the schedule, as on AWS.
import { createHash, randomUUID } from "node:crypto";
import * as z from "zod";
import { AwsFault } from "../errors.ts";
import type { Mappings, QueueMapping, StreamMapping } from "../template/mappings.ts";
import type { Resource } from "../template/resolve.ts";

interface Options extends Mappings {
  queueResources: readonly Resource[];
  invoke: (functionName: string, payload: unknown) => Promise<unknown>;
  /** Multiplies the delays of messages. */
  timeScale: number;
  log: (line: string) => void;
}

export interface Queues {
  /** SQS's JSON protocol. */
  call: (action: string, input: unknown) => Promise<unknown>;
  /** Called when DynamoDB has accepted a call. */
  written: (action: string, input: unknown) => void;
  stop: () => void;
}

const Batch = z.object({
  QueueUrl: z.string(),
  Entries: z.array(z.object({ Id: z.string(), MessageBody: z.string(), DelaySeconds: z.number().default(0) })).max(10),
});

/** How long the stream gathers items for one invocation. */
const GATHERED_MS = 50;

export function startQueues({ streams, queues, queueResources, invoke, timeScale, log }: Options): Queues {
  const timers = new Set<NodeJS.Timeout>();
  let stopped = false;
  const later = (milliseconds: number, work: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!stopped) work();
    }, milliseconds);
    timers.add(timer.unref());
  };
  const consumers = new Map(queues.map((mapping) => [mapping.queueArn, createConsumer(mapping, { invoke, log })]));
  const findArn = (url: string): string => {
    const queue = queueResources.find(({ name }) => url.endsWith(`/${name}`));
    if (queue === undefined) throw new AwsFault("QueueDoesNotExist", `There is no queue ${url}`);
    return queue.arn;
  };
  const gatherers = streams.map((mapping) => createGatherer(mapping, { invoke, log, later }));
  return {
    call: async (action, input) => {
      if (action !== "SendMessageBatch") throw new AwsFault("UnknownOperationException", `The local SQS does not know ${action}`);
      const { QueueUrl, Entries } = Batch.parse(input);
      const take = consumers.get(findArn(QueueUrl));
      for (const { MessageBody, DelaySeconds } of Entries) later(DelaySeconds * 1000 * timeScale, () => take?.(MessageBody));
      return {
        Successful: Entries.map(({ Id, MessageBody }) => ({ Id, MessageId: randomUUID(), MD5OfMessageBody: md5(MessageBody) })),
        Failed: [],
      };
    },
    written: (action, input) => {
      for (const key of streams.length === 0 ? [] : putKeysIn(action, input)) for (const gather of gatherers) gather(key);
    },
    stop: () => {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** SDKs check it. */
const md5 = (text: string): string => createHash("md5").update(text).digest("hex");

type Work = Pick<Options, "invoke" | "log">;

/** Invokes the function with each message, so many at a time. One that fails is left to the schedule. */
function createConsumer({ functionName, atOnce }: QueueMapping, { invoke, log }: Work): (body: string) => void {
  const waiting: string[] = [];
  let running = 0;
  const next = (): void => {
    const body = running < atOnce ? waiting.shift() : undefined;
    if (body === undefined) return;
    running++;
    void invoke(functionName, { Records: [{ messageId: randomUUID(), body }] })
      .catch((error: unknown) => log(`${functionName}: ${String(error)}`))
      .finally(() => {
        running--;
        next();
      });
  };
  return (body) => {
    waiting.push(body);
    next();
  };
}

const Key = z.object({ pk: z.object({ S: z.string() }), sk: z.object({ S: z.string() }) });
type Key = z.infer<typeof Key>;
const Transaction = z.object({ TransactItems: z.array(z.object({ Put: z.object({ Item: Key }).optional() })) });

/** The keys of the items that a transaction puts: no other call adds to what streams are filtered by. */
const putKeysIn = (action: string, input: unknown): Key[] =>
  action === "TransactWriteItems"
    ? (Transaction.safeParse(input).data?.TransactItems ?? []).flatMap(({ Put }) => (Put === undefined ? [] : [Put.Item]))
    : [];

/** Invokes the function with the items that were added in the last moment, one invocation at a time. */
function createGatherer(
  { functionName, keysBeginWith, batch }: StreamMapping,
  { invoke, log, later }: Work & { later: (milliseconds: number, work: () => void) => void },
): (key: Key) => void {
  const gathered: Key[] = [];
  let busy = false;
  const flush = (): void => {
    const records = gathered.splice(0, batch);
    if (records.length === 0) return void (busy = false);
    void invoke(functionName, { Records: records.map((Keys) => ({ eventName: "INSERT", dynamodb: { Keys } })) })
      .catch((error: unknown) => log(`${functionName}: ${String(error)}`))
      .finally(() => flush());
  };
  return (key) => {
    if (!keysBeginWith.some((prefix) => key.pk.S.startsWith(prefix))) return;
    gathered.push({ pk: key.pk, sk: key.sk });
    if (busy) return;
    busy = true;
    later(GATHERED_MS, flush);
  };
}
