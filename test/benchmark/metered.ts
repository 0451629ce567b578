// DynamoDB Local with a meter in front of it: it counts the capacity of each partition key, of the table and of its indexes, as
// AWS bills and limits it. DynamoDB Local itself bills transactions too low and does not know partitions. Step Functions here
// only notes what is started.
import { createServer, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { type AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import * as z from "zod";
import { callDynamoDb, createTable, type Database } from "../../infra/local/dynamodb/dynamodb.ts";
import { INDEXES } from "../../infra/table.ts";
import { itemBytes, writeUnits } from "../harness/item-size.ts";

type Item = Record<string, unknown>;

/** Units of one partition key in one second: as if a function made as many transactions a second as it may. */
export interface Spent {
  second: number;
  partition: string;
  writes: number;
  reads: number;
}

export interface Started {
  machine: string;
  name: string;
  input: Record<string, unknown>;
}

export interface Metered {
  url: string;
  /** What was spent, and the number of calls, since it was asked last. */
  take: () => { spent: Spent[]; calls: number; started: Started[] };
  /** Whether writes are counted: that costs two more calls for each. */
  count: (counting: boolean) => void;
  stop: () => Promise<void>;
}

const Attributes = z.record(
  z.string(),
  z.custom<AttributeValue>((value) => typeof value === "object" && value !== null),
);
const Keyed = z.looseObject({ Key: Attributes.optional(), Item: Attributes.optional() });
const TransactItem = z.record(z.string(), Keyed);
const Input = z.looseObject({
  TableName: z.string().optional(),
  Key: Attributes.optional(),
  Item: Attributes.optional(),
  TransactItems: z.array(TransactItem).default([]),
  IndexName: z.string().optional(),
  KeyConditionExpression: z.string().default(""),
  ExpressionAttributeValues: Attributes.default({}),
  ConsistentRead: z.boolean().default(false),
  RequestItems: z.record(z.string(), z.unknown()).optional(),
});
const Found = z.object({
  Item: Attributes.optional(),
  Items: z.array(Attributes).optional(),
  Responses: z.record(z.string(), z.array(Attributes)).optional(),
});
const StartInput = z.object({ stateMachineArn: z.string(), name: z.string(), input: z.string() });

const READ_UNIT_BYTES = 4096;
const readUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / READ_UNIT_BYTES));
const keyOf = ({ pk, sk }: Item): string => `${String(pk)}\n${String(sk)}`;

export async function startMetered(
  database: Database,
  { name: table, properties }: { name: string; properties: unknown },
  transactionsPerSecond: number,
): Promise<Metered> {
  await createTable(database, properties);
  const spent = new Map<string, Spent>();
  const images = new Map<string, Item>();
  let [calls, transactions, started]: [number, number, Started[]] = [0, 0, []];
  let counting = true;

  const spend = (partition: string, units: { writes?: number; reads?: number }): void => {
    const second = Math.floor(transactions / transactionsPerSecond);
    const at = spent.get(`${second} ${partition}`) ?? { second, partition, writes: 0, reads: 0 };
    spent.set(`${second} ${partition}`, {
      ...at,
      writes: at.writes + (units.writes ?? 0),
      reads: at.reads + (units.reads ?? 0),
    });
  };

  const load = async (keys: readonly Record<string, AttributeValue>[]): Promise<void> => {
    if (keys.length === 0) return;
    for (const key of keys) images.delete(keyOf(unmarshall(key)));
    const { body } = await callDynamoDb(database, "BatchGetItem", {
      RequestItems: { [table]: { Keys: keys, ConsistentRead: true } },
    });
    for (const each of Found.parse(body).Responses?.[table] ?? []) {
      const item = unmarshall(each);
      images.set(keyOf(item), item);
    }
  };

  const write = async (action: string, input: z.output<typeof Input>, forward: () => ReturnType<typeof callDynamoDb>) => {
    const each =
      action === "TransactWriteItems" ? input.TransactItems.map((one) => Object.entries(one)[0]) : [[action, input] as const];
    const touched = each.map((one) => {
      const { pk, sk } = one?.[1].Key ?? one?.[1].Item ?? {};
      if (pk === undefined || sk === undefined) throw new Error(`A write without a key: ${action}`);
      return { key: { pk, sk }, checks: one?.[0] === "ConditionCheck" };
    });
    if (!counting) {
      for (const { key } of touched) images.delete(keyOf(unmarshall(key)));
      return forward();
    }
    const unknown = touched.map(({ key }) => key).filter((key) => !images.has(keyOf(unmarshall(key))));
    await load(unknown);
    const before = new Map(touched.map(({ key }) => [key, images.get(keyOf(unmarshall(key)))]));
    const response = await forward();
    if (response.status === 200) await load(touched.filter(({ checks }) => !checks).map(({ key }) => key));
    // AWS bills a transaction twice, also if it is canceled.
    const times = action === "TransactWriteItems" ? 2 : 1;
    for (const { key } of touched) {
      const [was, is] = [before.get(key), images.get(keyOf(unmarshall(key)))];
      spend(`table ${String(unmarshall(key)["pk"])}`, { writes: times * Math.max(1, unitsOf(was), unitsOf(is)) });
      if (was !== is) for (const [index, units] of indexWrites(was, is)) spend(index, { writes: units });
    }
    return response;
  };

  const readers = async (action: string, input: z.output<typeof Input>, forward: () => ReturnType<typeof callDynamoDb>) => {
    const response = await forward();
    const output = Found.safeParse(response.body).data ?? {};
    const part = input.ConsistentRead || action !== "Query" ? 1 : 0.5;
    if (action === "Query") {
      const name = /= (:\w+)/.exec(input.KeyConditionExpression)?.[1] ?? "";
      const [value] = Object.values(input.ExpressionAttributeValues[name] ?? { S: "?" });
      const bytes = (output.Items ?? []).reduce((sum, item) => sum + itemBytes(unmarshall(item)), 0);
      spend(`${input.IndexName ?? "table"} ${String(value)}`, { reads: part * readUnits(bytes) });
    } else {
      for (const item of [...(output.Item ? [output.Item] : []), ...Object.values(output.Responses ?? {}).flat()].map((each) =>
        unmarshall(each),
      ))
        spend(`table ${String(item["pk"])}`, { reads: readUnits(itemBytes(item)) });
    }
    return response;
  };

  const server = createServer((request, response) => {
    void (async () => {
      const [service = "", action = ""] = String(request.headers["x-amz-target"]).split(".");
      const text = await bodyOf(request);
      if (service === "AWSStepFunctions") {
        const { stateMachineArn: machine, name, input } = StartInput.parse(JSON.parse(text));
        started.push({ machine, name, input: z.record(z.string(), z.unknown()).parse(JSON.parse(input)) });
        response.end(JSON.stringify({ executionArn: `${machine}:${name}`, startDate: Date.now() / 1000 }));
        return;
      }
      const raw: unknown = JSON.parse(text);
      const forward = () => callDynamoDb(database, action, raw);
      calls += 1;
      if (action === "TransactWriteItems") transactions += 1;
      const handle = /^(Put|Update|Delete|TransactWrite)Items?$/.test(action) ? write : readers;
      const { status, body } = action === "BatchWriteItem" ? await forward() : await handle(action, Input.parse(raw), forward);
      response.writeHead(status, { "content-type": "application/x-amz-json-1.0" }).end(JSON.stringify(body));
    })().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    take: () => {
      const totals = { spent: [...spent.values()], calls, started };
      spent.clear();
      [calls, transactions, started] = [0, 0, []];
      return totals;
    },
    count: (isOn) => void (counting = isOn),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const unitsOf = (item: Item | undefined): number => (item === undefined ? 0 : writeUnits(item));

/** An index takes a write where its key or anything that it copies changes, and two where the item moves inside it. */
function indexWrites(was: Item | undefined, is: Item | undefined): [string, number][] {
  return Object.entries(INDEXES).flatMap(([index, partition]) => {
    const place = (item: Item | undefined): string | undefined => {
      const [list, number] = [item?.[partition], item?.["number"]];
      return typeof list === "string" && typeof number === "string" ? `${list}\n${number}` : undefined;
    };
    const [from, to] = [place(was), place(is)];
    if (from === to)
      return to === undefined ? [] : [[`${index} ${String(is?.[partition])}`, Math.max(unitsOf(was), unitsOf(is))]];
    return [
      ...(from === undefined ? [] : [[`${index} ${String(was?.[partition])}`, unitsOf(was)] as [string, number]]),
      ...(to === undefined ? [] : [[`${index} ${String(is?.[partition])}`, unitsOf(is)] as [string, number]]),
    ];
  });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(z.instanceof(Buffer).parse(chunk));
  return Buffer.concat(chunks).toString();
}
