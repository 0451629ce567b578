// Reading and writing the table: the only module that talks to DynamoDB.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AttributeValue,
  type CancellationReason,
  DynamoDBClient,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import * as z from "zod";
import { unavailable } from "../api/errors.ts";
import { CALLS } from "../platform/aws-calls.ts";
import { env } from "../platform/env.ts";
import { type Expression, buildUpdate, type Update, type Where } from "./expressions.ts";
import { type Item, type Key, keyString } from "./keys.ts";
import { keyOfWrite, type Write } from "./writes.ts";

let documents: DynamoDBDocumentClient | undefined;

function client(): DynamoDBDocumentClient {
  documents ??= DynamoDBDocumentClient.from(new DynamoDBClient(CALLS), {
    // A map with the key `constructor`, such as a label, looks like an instance of a class.
    marshallOptions: { removeUndefinedValues: true, convertClassInstanceToMap: true },
  });
  return documents;
}

/** The key of a record and the schema that parses it: the argument of `read`, so that several records cost one call. */
export interface Ref<T> {
  key: Key;
  schema: z.ZodType<T>;
}

export type Records<R extends Record<string, Ref<unknown>>> = {
  [K in keyof R]: (NonNullable<R[K]> extends Ref<infer T> ? T : never) | undefined;
};

/** Strongly consistent read of one record; undefined if there is none. */
export async function find<T>({ key, schema }: Ref<T>): Promise<T | undefined> {
  if (!isPossible(key)) return undefined;
  const { Item } = await client().send(new GetCommand({ TableName: env().TABLE_NAME, Key: key, ConsistentRead: true }));
  return Item === undefined ? undefined : schema.parse(Item);
}

const READ_TRIES = 5;

/** Strongly consistent read of several records in one call. */
export async function read<const R extends Record<string, Ref<unknown>>>(refs: R): Promise<Records<R>> {
  return recordsIn(await readAll(Object.values(refs).map((ref) => ref.key)), refs);
}

/** The same with one more, in the same call. */
export async function readWith<const R extends Record<string, Ref<unknown>>, T>(
  refs: R,
  more: Ref<T>,
): Promise<[Records<R>, T | undefined]> {
  const items = await readAll([...Object.values(refs).map((ref) => ref.key), more.key]);
  return [recordsIn(items, refs), recordIn(items, more)];
}

function recordIn<T>(items: ReadonlyMap<string, Item>, { key, schema }: Ref<T>): T | undefined {
  const item = items.get(keyString(key));
  return item === undefined ? undefined : schema.parse(item);
}

const recordsIn = <R extends Record<string, Ref<unknown>>>(items: ReadonlyMap<string, Item>, refs: R): Records<R> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- entries lose which name has which type
  Object.fromEntries(Object.entries(refs).map(([name, ref]) => [name, recordIn(items, ref)])) as Records<R>;

/** Items by their key string. DynamoDB may leave some unread under load; they are requested again, and then it is an outage. */
export async function readAll(
  keys: readonly Key[],
  { consistent = true }: { consistent?: boolean } = {},
): Promise<Map<string, Item>> {
  const items = new Map<string, Item>();
  const table = env().TABLE_NAME;
  const distinct = new Map<string, Record<string, unknown>>();
  for (const key of keys) if (isPossible(key)) distinct.set(keyString(key), { ...key });
  let remaining = [...distinct.values()];
  for (let attempt = 1; remaining.length > 0; attempt++) {
    if (attempt > READ_TRIES) throw unavailable();
    if (attempt > 1) await sleep(jitter(attempt));
    const batch = remaining.slice(0, 100); // the most that one BatchGetItem takes
    const { Responses, UnprocessedKeys } = await client().send(
      new BatchGetCommand({
        RequestItems: { [table]: { Keys: batch, ConsistentRead: consistent } },
        ReturnConsumedCapacity: "TOTAL", // for tests, as of Query
      }),
    );
    for (const item of Responses?.[table] ?? []) items.set(keyString(item), item);
    const unread = UnprocessedKeys?.[table]?.Keys ?? [];
    if (unread.length < batch.length) attempt = 0; // progress: the bound is on tries that bring nothing
    remaining = [...unread, ...remaining.slice(100)];
  }
  return items;
}

/** DynamoDB rejects longer keys; an ID that a client invents may be one, and identifies nothing. */
const isPossible = ({ sk }: Key): boolean => sk !== "" && Buffer.byteLength(sk) <= 1024;

interface QueryResult {
  items: Item[];
  /** The key after which the next call continues; undefined at the end. */
  more: Record<string, unknown> | undefined;
}

/** One Query call: at most `Limit` items, or as many as one call gives (1 MB). */
export async function query(input: Omit<QueryCommandInput, "TableName">): Promise<QueryResult> {
  // The consumed capacity is requested only for tests, which check the cost of lists.
  const { Items, LastEvaluatedKey } = await client().send(
    new QueryCommand({ TableName: env().TABLE_NAME, ReturnConsumedCapacity: "TOTAL", ...input }),
  );
  return { items: Items ?? [], more: LastEvaluatedKey };
}

interface Range {
  beginsWith?: string;
  below?: string;
  between?: readonly [string, string];
  consistent?: boolean;
}

/** All items of a partition, or those whose sort key starts with a prefix, is below a value or between two. */
export async function queryAll(pk: string, { beginsWith, below, between, consistent = false }: Range = {}): Promise<Item[]> {
  const [sk, to] = between ?? [beginsWith ?? below];
  const condition =
    to !== undefined
      ? " AND sk BETWEEN :sk AND :to"
      : beginsWith !== undefined
        ? " AND begins_with(sk, :sk)"
        : below !== undefined
          ? " AND sk < :sk"
          : "";
  const items: Item[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const page = await query({
      KeyConditionExpression: `pk = :pk${condition}`,
      ExpressionAttributeValues: { ":pk": pk, ...(sk !== undefined && { ":sk": sk }), ...(to !== undefined && { ":to": to }) },
      ConsistentRead: consistent,
      ...(start !== undefined && { ExclusiveStartKey: start }),
    });
    items.push(...page.items);
    start = page.more;
  } while (start !== undefined);
  return items;
}

/**
 * Conflicts with other transactions on the same item (an account's counters, mostly) are retried: 8 tries, full jitter, 25 ms
 * doubling to 800 ms: about 1.2 s of waiting on average, 2.4 s at most.
 */
const WRITE_TRIES = 8;
const jitter = (attempt: number): number => Math.random() * Math.min(800, 25 * 2 ** (attempt - 1));

/** Does all of the writes or none. Throws the error of the first write whose condition failed. */
export async function transact(requested: readonly Write[]): Promise<void> {
  let writes = requested;
  for (let attempt = 1; ; attempt++) {
    try {
      await client().send(new TransactWriteCommand({ TransactItems: writes.map((write) => write.item) }));
      return;
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons ?? [];
      const failed = reasons.findIndex((reason) => reason.Code === "ConditionalCheckFailed");
      const write = writes[failed];
      if (write !== undefined) throw write.conditionError?.(plain(reasons[failed]?.Item)) ?? new ConditionFailed(write, error);
      if (attempt >= WRITE_TRIES || !reasons.some((reason) => TRANSIENT.has(reason.Code ?? ""))) throw error;
      writes = moved(writes, reasons);
      await sleep(jitter(attempt));
    }
  }
}
/** Those that met another transaction are made elsewhere, if that is possible. */
function moved(writes: readonly Write[], reasons: readonly CancellationReason[]): readonly Write[] {
  const conflicting = writes.filter((_, index) => reasons[index]?.Code === "TransactionConflict");
  const alternatives = new Set(conflicting.map(({ elsewhere }) => elsewhere).filter((each) => each !== undefined));
  if (alternatives.size === 0) return writes;
  const unaffected = writes.filter(({ elsewhere }) => elsewhere === undefined || !alternatives.has(elsewhere));
  return [...unaffected, ...[...alternatives].flatMap((elsewhere) => elsewhere())];
}

const TRANSIENT = new Set(["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"]);

/** A condition failed, and its write names no error of its own. */
export class ConditionFailed extends Error {
  override name = "ConditionFailed";
  /** The item's key as `keyString` writes it. */
  readonly key: string;
  constructor(write: Write, cause: unknown) {
    const key = keyOfWrite(write);
    super(`A condition failed on ${JSON.stringify(key)}`, { cause });
    this.key = key;
  }
}

/** Whether an error says that the condition on this item failed. */
export const hasFailedOn = (key: Key, error: unknown): boolean =>
  error instanceof ConditionFailed && error.key === keyString(key);

/** A single write fails while its item is in a transaction: it gets the same retries as a transaction. */
async function retryAfterTransaction<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Error && error.name === "TransactionConflictException") || attempt >= WRITE_TRIES) throw error;
      await sleep(jitter(attempt));
    }
  }
}

export interface UpdateOutcome {
  /** Whether the condition held and the update was done. */
  done: boolean;
  /** The item after the update, or as it is if the condition failed; undefined if there is none. */
  item: Item | undefined;
}

/** One conditional update outside a transaction; returns the item. */
export async function updateOne(key: Key, update: Update, where: Where): Promise<UpdateOutcome> {
  return updateRaw(key, buildUpdate(update, where));
}

/** The same for the few updates that need their own expression. */
export async function updateRaw(key: Key, expression: Expression & { UpdateExpression: string }): Promise<UpdateOutcome> {
  const mark = newMark();
  try {
    const update = new UpdateCommand({
      TableName: env().TABLE_NAME,
      Key: { ...key },
      ...marked(expression, mark),
      ReturnValues: "ALL_NEW",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    });
    const { Attributes } = await retryAfterTransaction(() => client().send(update));
    return { done: true, item: Attributes };
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    const item = plain(error.Item);
    return { done: item?.[MARK] === mark, item };
  }
}

/**
 * If the response to a write is lost, the SDK sends it again, and the first attempt may have made the condition of the second
 * fail. The mark, unique to every write, shows that it was this write itself. Transactions need none: the SDK gives each a token,
 * by which DynamoDB recognizes it.
 */
const MARK = "written_by";
const newMark = (): string => randomBytes(6).toString("base64url");

const marked = (expression: Expression & { UpdateExpression: string }, mark: string): Expression => ({
  ...expression,
  UpdateExpression: /\bSET /.test(expression.UpdateExpression)
    ? expression.UpdateExpression.replace(/\bSET /, "SET #mark = :mark, ")
    : `SET #mark = :mark ${expression.UpdateExpression}`,
  ExpressionAttributeNames: { ...expression.ExpressionAttributeNames, "#mark": MARK },
  ExpressionAttributeValues: { ...expression.ExpressionAttributeValues, ":mark": mark },
});

/** Writes an item unless it is there already; false if it was. */
export async function putIfAbsent(key: Key, item: Item): Promise<boolean> {
  const mark = newMark();
  try {
    const put = new PutCommand({
      TableName: env().TABLE_NAME,
      Item: { ...item, ...key, [MARK]: mark },
      ConditionExpression: "attribute_not_exists(pk)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    });
    await retryAfterTransaction(() => client().send(put));
    return true;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    return plain(error.Item)?.[MARK] === mark;
  }
}

/** Writes an item in the place of what is there. */
export async function putOne(key: Key, item: Item): Promise<void> {
  const put = new PutCommand({ TableName: env().TABLE_NAME, Item: { ...item, ...key } });
  await retryAfterTransaction(() => client().send(put));
}

export async function removeOne(key: Key): Promise<void> {
  await retryAfterTransaction(() => client().send(new DeleteCommand({ TableName: env().TABLE_NAME, Key: { ...key } })));
}

const isConditionFailure = (error: unknown): error is Error & { Item?: unknown } =>
  error instanceof Error && error.name === "ConditionalCheckFailedException";

/** Items inside errors have DynamoDB's attribute format; the document client translates only responses. */
const AttributeMap = z.record(
  z.string(),
  z.custom<AttributeValue>((value) => typeof value === "object" && value !== null),
);
function plain(item: unknown): Item | undefined {
  const parsed = AttributeMap.safeParse(item);
  return parsed.success && Object.keys(parsed.data).length > 0 ? unmarshall(parsed.data) : undefined;
}
