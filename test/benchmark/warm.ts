// The CPU time of a request in a warm function: the bundled handlers, as deployed except for their database, which responds from
// memory. Run `node infra/local/with-node24.mjs test/benchmark/warm.ts` for this table alone.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { bundleFiles, ENTRIES } from "../../infra/bundle.ts";
import { STAND_INS, type StandIn } from "../../infra/bundle-stand-ins.ts";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import { keys, placement } from "../../shared/data/keys.ts";
import { countPlace, formatNumber } from "../../shared/data/numbers.ts";
import { newId } from "../../shared/domain/ids.ts";
import { serverFields } from "../harness/seed.ts";

const ROUNDS = 30;
const REQUESTS_PER_ROUND = 500;
const ADDRESS = "203.0.113.7";

/** The document client whose every call goes to `globalThis.fromMemory`. */
const inMemory: StandIn = {
  name: "database",
  file: /@aws-sdk\/lib-dynamodb\/dist-es\/DynamoDBDocumentClient\.js$/,
  contents: () => `
    export class DynamoDBDocumentClient {
      static from() { return { send: async ({ constructor, input }) => globalThis.fromMemory(input) }; }
    }`,
};

type Handler = (event: APIGatewayProxyEvent, context: object) => Promise<APIGatewayProxyResult>;

const accountId = newId("account");
const servers = Array.from({ length: 101 }, (_, i) => {
  const id = newId("server");
  const number = formatNumber(i, id);
  return {
    ...serverFields(accountId, id, number),
    machine_id: "sandbox-1",
    host_keys: [],
    instances: 2,
    failed_probes: 0,
    ...keys.record("server", accountId, id),
    ...placement("server", accountId, number, { status: "active" }),
  };
}).toReversed();

const counts = (() => {
  const items: Record<string, Record<string, unknown>> = {};
  for (const { number } of servers) {
    const { leaf, attribute } = countPlace(number);
    const sk = `all#${String(leaf).padStart(8, "0")}`;
    const item = (items[sk] ??= { sk });
    item[attribute] = Number(item[attribute] ?? 0) + 1;
  }
  return Object.values(items);
})();

interface Asked {
  Key?: unknown;
  RequestItems?: unknown;
  IndexName?: string;
  Limit?: number;
}

const fromMemory = ({ IndexName, Limit = 0, RequestItems }: Asked): unknown => {
  if (RequestItems !== undefined) return { Responses: { table: [servers[0]] } };
  return IndexName !== undefined ? { Items: servers.slice(0, Limit) } : Limit > 0 ? {} : { Items: counts, Item: servers[0] };
};

const eventOf = (resource: string, query: Record<string, string>, id?: string): APIGatewayProxyEvent =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields that a handler reads
  ({
    httpMethod: "GET",
    resource: `/api/v1${resource}`,
    path: `/api/v1${resource}`,
    headers: { host: "example.com", "user-agent": "curl/8", authorization: "Bearer x", accept: "*/*" },
    multiValueHeaders: { host: ["example.com"], "user-agent": ["curl/8"], authorization: ["Bearer x"], accept: ["*/*"] },
    queryStringParameters: query,
    multiValueQueryStringParameters: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value]])),
    pathParameters: id === undefined ? null : { id },
    isBase64Encoded: false,
    body: null,
    requestContext: {
      requestId: "5f0c6e2a-8f1b-4d55-9b1e-6c1f2a7d9e10",
      authorizer: {
        request_id: "5f0c6e2a-8f1b-4d55-9b1e-6c1f2a7d9e10",
        ip_address: ADDRESS,
        caller: JSON.stringify({
          account_id: accountId,
          type: "token",
          id: newId("token"),
          name: "Benchmark",
          permissions: ALL_PERMISSIONS,
          ip_address: ADDRESS,
        }),
        limits: JSON.stringify({ limit: 100, remaining: 99, reset: 1_790_000_000 }),
      },
    },
  }) as unknown as APIGatewayProxyEvent;

interface Work {
  name: string;
  id: string;
  event: APIGatewayProxyEvent;
  goal: number;
}

const WORKS: readonly Work[] = [
  { name: "GET one", id: "servers.get", event: eventOf("/servers/{id}", {}, servers[0]?.id), goal: 20 },
  { name: "list 20", id: "servers.list", event: eventOf("/servers", {}), goal: 150 },
  { name: "list 100", id: "servers.list", event: eventOf("/servers", { per_page: "100" }), goal: 450 },
];

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

export interface WarmCpu {
  name: string;
  /** Microseconds of CPU time a request. */
  micros: number;
  /** The same in copies of a record by JSON, made in turn: what a busy machine changes least. */
  copies: number;
  goal: number;
}

const cpuOf = async (count: number, work: () => unknown): Promise<number> => {
  const began = process.cpuUsage();
  for (let n = 0; n < count; n++) await work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / count;
};

const copyByJson = (): unknown => JSON.parse(JSON.stringify(servers[0]));

/** The median of many rounds, which take turns, so that all of them meet the same noise. */
export async function warmCpu(): Promise<WarmCpu[]> {
  const folder = await mkdtemp(join(tmpdir(), "warm-"));
  try {
    Object.assign(process.env, { TABLE_NAME: "table", ENVIRONMENT: "test", ORIGIN_KEYS: "key", AWS_REGION: "eu-central-1" });
    Object.assign(globalThis, { fromMemory });
    const ids = [...new Set(WORKS.map(({ id }) => id))];
    await bundleFiles(
      folder,
      ids.map((id) => [id, ENTRIES[id] ?? ""]),
      { standIns: [...STAND_INS, inMemory] },
    );
    const handlers = new Map<string, Handler>();
    for (const id of ids) {
      const module: { handler: Handler } = await import(join(folder, id, "index.mjs"));
      handlers.set(id, module.handler);
    }
    const { info } = console;
    console.info = () => undefined; // writing a log line is the runtime's work
    const send = async ({ name, id, event }: Work): Promise<void> => {
      const response = await handlers.get(id)?.(event, {});
      if (response?.statusCode !== 200) throw new Error(`${name}: ${response?.statusCode} ${response?.body}`);
    };
    const copies: number[] = [];
    const times = WORKS.map((): number[] => []);
    for (let round = 0; round < ROUNDS; round++) {
      const isWarm = round >= ROUNDS / 3;
      const copy = await cpuOf(REQUESTS_PER_ROUND, copyByJson);
      if (isWarm) copies.push(copy);
      for (const [i, work] of WORKS.entries()) {
        const micros = await cpuOf(REQUESTS_PER_ROUND, () => send(work));
        if (isWarm) times[i]?.push(micros);
      }
    }
    console.info = info;
    return WORKS.map(({ name, goal }, i) => {
      const micros = median(times[i] ?? []);
      return { name, micros, copies: micros / median(copies), goal };
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

if (import.meta.main)
  for (const { name, micros, copies, goal } of await warmCpu())
    console.log(
      `${name.padEnd(12)} ${micros.toFixed(0).padStart(6)} µs of CPU (goal ${goal}), ${copies.toFixed(1)} JSON copies of a record`,
    );
