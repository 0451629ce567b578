// `npm start` under load: requests per second beside the SDK's GetItem on DynamoDB Local, and beside the two calls that a request
// cannot do without: an update that counts it, which DynamoDB Local writes to disk before it responds, and a read. With
// `--memory` also what the service holds a minute after 50,000 requests over all endpoints.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { createTable, startDynamoDb } from "../../infra/local/dynamodb/dynamodb.ts";
import { readAccess } from "../../infra/local/access.ts";
import { ROOT } from "../../infra/built.ts";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import { startChange } from "../../shared/data/change.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { reserveToken } from "../../shared/records/tokens.ts";
import type { Caller } from "../../shared/records/schemas/caller.ts";
import { createAccount } from "../../shared/operations/accounts/operator.ts";
import { bodyOf, everyRoute, pathOf } from "../harness/requests.ts";
import { median, percentile, tableOf } from "./figures.ts";

const CONNECTIONS = 8;
const ROUNDS = 7;
const ROUND_SECONDS = 2;
/** Each admits 100 requests a minute. */
const TOKENS = 95;
const REQUESTS = 50_000;
const IDLE_SECONDS = 60;

export interface Service {
  url: string;
  pid: number;
  stop: () => Promise<void>;
}

export async function startService(): Promise<Service> {
  const dataDir = mkdtempSync(join(tmpdir(), "bench-"));
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const child = spawn(process.execPath, [join(ROOT, "infra/local/start.ts"), "--data", dataDir], {
    cwd: ROOT,
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await ready(child);
  Object.assign(process.env, readAccess(dataDir));
  return {
    url: `http://127.0.0.1:${port}/api/v1`,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
      rmSync(dataDir, { recursive: true });
    },
  };
}

async function ready(child: ChildProcess): Promise<void> {
  let output = "";
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes("Ready after")) resolve();
    });
    child.once("exit", () => reject(new Error(`npm start ended: ${output}`)));
  });
}

async function tokensOf(): Promise<string[]> {
  const { account, user } = await createAccount("Bench", { email: "bench@example.com", name: "Bench", password: "not-a-secret" });
  const caller: Caller = {
    account_id: account.id,
    type: "user",
    id: user.id,
    name: user.name,
    permissions: [],
    ip_address: null,
  };
  const tokens: string[] = [];
  for (let n = 0; n < TOKENS; n++) {
    const change = startChange(await getAccount(account.id));
    const fields = { name: `bench ${n}`, permissions: [...ALL_PERMISSIONS], expires_at: null };
    tokens.push(reserveToken(change, { requestId: "bench", caller }, "test", fields).value);
    await change.commit();
  }
  return tokens;
}

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

/** The status of a response, once all of it has arrived. */
const ask = (url: string, method: string, token: string, body?: unknown): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) };
    const sent = request(url, { agent, method, headers }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
      response.once("error", reject);
    });
    sent.once("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });

/** Does something on all connections for a while; the milliseconds that each took. */
async function load(work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  const until = performance.now() + ROUND_SECONDS * 1000;
  const connection = async (): Promise<void> => {
    while (performance.now() < until) {
      const began = performance.now();
      await work();
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return times;
}

interface Floor {
  get: () => Promise<unknown>;
  /** An update of one of many items, then a read. */
  count: () => Promise<unknown>;
  stop: () => Promise<void>;
}

/** DynamoDB Local with one item in it, and the SDK that gets it. */
async function startFloor(): Promise<Floor> {
  const dataDir = mkdtempSync(join(tmpdir(), "bench-"));
  const database = await startDynamoDb({ dataDir });
  const table = "bench";
  await createTable(database, {
    TableName: table,
    AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
  });
  const credentials = { accessKeyId: database.accessKeyId, secretAccessKey: "local" };
  const client = new DynamoDBClient({ endpoint: database.url, region: "us-east-1", credentials });
  const Key = { pk: { S: "one" } };
  await client.send(new PutItemCommand({ TableName: table, Item: { ...Key, text: { S: "x".repeat(500) } } }));
  const get = (): Promise<unknown> => client.send(new GetItemCommand({ TableName: table, Key, ConsistentRead: true }));
  let turn = 0;
  return {
    get,
    count: async () => {
      const counted = { TableName: table, Key: { pk: { S: `token ${turn++ % TOKENS}` } } };
      await client.send(
        new UpdateItemCommand({
          ...counted,
          UpdateExpression: "ADD requests :one",
          ExpressionAttributeValues: { ":one": { N: "1" } },
        }),
      );
      return get();
    },
    stop: async () => {
      client.destroy();
      await database.stop();
      rmSync(dataDir, { recursive: true });
    },
  };
}

/** The table of GETs beside the floor; with `memory` what is held after many requests, too. */
export async function service({ memory }: { memory: boolean }): Promise<string> {
  const [running, floor] = await Promise.all([startService(), startFloor()]);
  try {
    const tokens = await tokensOf();
    let turn = 0;
    const token = (): string => tokens[turn++ % tokens.length] ?? "";
    const statuses = new Map<number, number>();
    const get = async (): Promise<void> => {
      const status = await ask(`${running.url}/settings`, "GET", token());
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    };
    await Promise.all([load(get), load(floor.get), load(floor.count)]); // until all are warm
    const ours: number[][] = [];
    const floors: number[][] = [];
    const counted: number[][] = [];
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await load(get));
      floors.push(await load(floor.get));
      counted.push(await load(floor.count));
    }
    if ((statuses.get(200) ?? 0) < ours.flat().length / 2)
      throw new Error(`Not what is to be measured: ${JSON.stringify([...statuses])}`);
    const perSecond = (rounds: number[][]): number => median(rounds.map(({ length }) => length / ROUND_SECONDS));
    const row = (name: string, rounds: number[][]): string[] => [
      name,
      perSecond(rounds).toFixed(0),
      (perSecond(rounds) / perSecond(floors)).toFixed(2),
      percentile(rounds.flat(), 0.99).toFixed(0),
    ];
    const head = [`\`npm start\`, ${CONNECTIONS} connections`, "per second", "Ratio", "p99 ms"];
    const table = tableOf(head, [
      row("GetItem of the SDK", floors),
      row("UpdateItem and GetItem of the SDK", counted),
      row("GET /settings", ours),
    ]);
    return memory ? `${table}\n\n${await memoryAfter(running, token)}` : table;
  } finally {
    await floor.stop();
    await running.stop();
  }
}

async function memoryAfter({ url, pid }: Service, token: () => string): Promise<string> {
  // Leaves out what would end the service's own sessions or tokens; the function rejects the rest for its body or its IDs.
  let sent = 0;
  const connection = async (): Promise<void> => {
    while (sent < REQUESTS) {
      const route = everyRoute[sent++ % everyRoute.length];
      if (route !== undefined) await ask(`${url}${pathOf(route)}`, route.method, token(), bodyOf(route));
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  const busy = residentMegabytes(pid);
  await sleep(IDLE_SECONDS * 1000);
  const idle = residentMegabytes(pid);
  const head = [`Memory after ${REQUESTS.toLocaleString("en-US")} requests`, "at once, MB", `after ${IDLE_SECONDS} s, MB`];
  const sum = ([a = 0, b = 0]: readonly number[]): number => a + b;
  return tableOf(head, [
    ["service", ...[busy, idle].map(([service]) => service.toFixed(0))],
    ["DynamoDB Local (Java)", ...[busy, idle].map(([, java]) => java.toFixed(0))],
    ["together", ...[busy, idle].map((each) => sum(each).toFixed(0))],
  ]);
}

/** The memory of a process, and that of its children together. */
function residentMegabytes(pid: number): [own: number, children: number] {
  const rss = (id: number): number =>
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? 0) / 1000;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  return [rss(pid), children.reduce((sum, id) => sum + rss(id), 0)];
}
