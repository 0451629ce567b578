// The CPU time of a request in a warm function: the bundled handlers, as they are deployed but for their database, which answers from memory.
// Run `node infra/local/with-node24.mjs test/benchmark/warm.ts` for this table alone.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { bundleFiles, ENTRIES } from "../../infra/bundle.ts";
import { STAND_INS, type StandIn } from "../../infra/bundle-leave-out.ts";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import { placement } from "../../shared/data/keys.ts";
import { countPlace, numberOf } from "../../shared/data/lists.ts";
import { newId } from "../../shared/domain/ids.ts";
import { newTokenValue } from "../../shared/domain/token-value.ts";
import { serverFields } from "../harness/seed.ts";

const ROUNDS = 30;
const REQUESTS_PER_ROUND = 500;
const ADDRESS = "203.0.113.7";

/** The document client with which every call is answered by `globalThis.fromMemory`. */
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
  const number = numberOf(i, id);
  return {
    ...serverFields(accountId, id, number),
    machine_id: "sandbox-1",
    host_keys: [],
    instances: 2,
    failed_probes: 0,
    ...placement("server", accountId, number, "active", undefined),
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
  IndexName?: string;
  Limit?: number;
}

const fromMemory = ({ IndexName, Limit = 0 }: Asked): unknown =>
  IndexName !== undefined ? { Items: servers.slice(0, Limit) } : Limit > 0 ? {} : { Items: counts, Item: servers[0] };

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

const WORKS: readonly { what: string; id: string; event: APIGatewayProxyEvent; goal: number }[] = [
  { what: "GET one", id: "servers.get", event: eventOf("/servers/{id}", {}, servers[0]?.id), goal: 20 },
  { what: "list 20", id: "servers.list", event: eventOf("/servers", {}), goal: 150 },
  { what: "list 100", id: "servers.list", event: eventOf("/servers", { per_page: "100" }), goal: 450 },
];

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

export interface WarmCpu {
  what: string;
  /** Microseconds of CPU time a request. */
  micros: number;
  goal: number;
}

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
      [...STAND_INS, inMemory],
    );
    const handlers = new Map<string, Handler>();
    for (const id of ids) {
      const module: { handler: Handler } = await import(join(folder, id, "index.mjs"));
      handlers.set(id, module.handler);
    }
    const { info } = console;
    console.info = () => undefined; // writing a log line is the runtime's work
    const times = WORKS.map((): number[] => []);
    for (let round = 0; round < ROUNDS; round++)
      for (const [i, { what, id, event }] of WORKS.entries()) {
        const began = process.cpuUsage();
        for (let n = 0; n < REQUESTS_PER_ROUND; n++) {
          const answer = await handlers.get(id)?.(event, {});
          if (answer?.statusCode !== 200) throw new Error(`${what}: ${answer?.statusCode} ${answer?.body}`);
        }
        const { user, system } = process.cpuUsage(began);
        if (round >= ROUNDS / 3) times[i]?.push((user + system) / REQUESTS_PER_ROUND);
      }
    console.info = info;
    return WORKS.map(({ what, goal }, i) => ({ what, micros: median(times[i] ?? []), goal }));
  } finally {
    await rm(folder, { recursive: true });
  }
}

if (import.meta.main)
  for (const { what, micros, goal } of await warmCpu())
    console.log(`${what.padEnd(12)} ${micros.toFixed(0).padStart(6)} µs of CPU (goal ${goal})`);
void newTokenValue;
