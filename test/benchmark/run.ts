// `npm run benchmark`: figures as ratios within one run, because machines differ and are noisy.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import { changeOf } from "../../shared/data/change.ts";
import { getAccount } from "../../shared/data/accounts.ts";
import { reserveToken } from "../../shared/data/credentials.ts";
import { keys } from "../../shared/data/keys.ts";
import { createAccount } from "../../shared/data/operator.ts";
import { bundledSizes, bundleIfChanged } from "../../infra/bundle.ts";
import { startCloud } from "../../infra/local/cloud.ts";
import { synthIfChanged } from "../../infra/local/template/synthesized.ts";
import { stackName } from "../../infra/settings.ts";

const RUNS = 15;

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const ms = (value: number): string => `${value.toFixed(1)} ms`;
const row = (what: string, figure: string, ratio?: number): void =>
  console.log(`${what.padEnd(46)} ${figure.padStart(12)}${ratio === undefined ? "" : `   ${ratio.toFixed(2)} ×`}`);

/** Whole-process time of loading a module, in turn with loading nothing, so that both meet the same noise. */
function start(bundles: string, ids: readonly string[]): void {
  const load = (code: string): number => {
    const began = performance.now();
    spawnSync(process.execPath, ["--input-type=module", "-e", code], { stdio: "ignore" });
    return performance.now() - began;
  };
  const dynamo = createRequire(import.meta.url).resolve("@aws-sdk/client-dynamodb");
  const codes = { nothing: "", "the DynamoDB client, unbundled": `await import(${JSON.stringify(dynamo)})` } as Record<
    string,
    string
  >;
  for (const id of ids) codes[id] = `await import(${JSON.stringify(join(bundles, id, "index.mjs"))})`;
  const times: Record<string, number[]> = {};
  for (let i = 0; i < RUNS; i++) for (const [name, code] of Object.entries(codes)) (times[name] ??= []).push(load(code));
  const base = median(times["nothing"] ?? []);
  console.log(`\nStart of a function, over an empty process (${ms(base)}), and against loading the SDK's DynamoDB client alone`);
  const floor = median(times["the DynamoDB client, unbundled"] ?? []) - base;
  for (const [name, values] of Object.entries(times))
    if (name !== "nothing") row(name, ms(median(values) - base), (median(values) - base) / floor);
}

async function requests(bundles: string): Promise<void> {
  const outDir = await synthIfChanged(bundles, ["test"]);
  const cloud = await startCloud({ outDir, stack: stackName("test"), schedules: false });
  try {
    Object.assign(process.env, cloud.operator.environment, { TABLE_NAME: cloud.tableName, ENVIRONMENT: "test" });
    const { account, user } = await createAccount("Benchmark", {
      email: "benchmark@example.com",
      name: "Benchmark",
      password: "not-a-secret-here",
    });
    const by = {
      requestId: "benchmark",
      caller: { account_id: account.id, type: "user" as const, id: user.id, name: user.name, permissions: [], ip_address: null },
    };
    const tokens: string[] = [];
    for (let i = 0; i < 4; i++) {
      const change = changeOf(await getAccount(account.id));
      tokens.push(
        reserveToken(change, by, "test", { name: `benchmark ${i}`, permissions: [...ALL_PERMISSIONS], expires_at: null }).value,
      );
      await change.commit();
    }
    let turn = 0;
    const get = (path: string) => async (): Promise<void> => {
      const token = tokens[Math.floor(turn++ / 90) % tokens.length] ?? ""; // under each token's limit of 100 a minute
      const response = await fetch(`${cloud.apiUrl}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
      await response.arrayBuffer();
    };
    const client = new DynamoDBClient({});
    const { pk, sk } = keys.account(account.id);
    const Key = { pk: { S: pk }, sk: { S: sk } };
    const floor = async (): Promise<void> => {
      await client.send(
        new UpdateItemCommand({
          TableName: cloud.tableName,
          Key,
          UpdateExpression: "SET probe = :n",
          ExpressionAttributeValues: { ":n": { N: "1" } },
        }),
      );
      await client.send(new GetItemCommand({ TableName: cloud.tableName, Key, ConsistentRead: true }));
    };
    const works = {
      "one write and one read, without us": floor,
      "GET /settings": get("/settings"),
      "GET /servers": get("/servers"),
      "GET /health": get("/health"),
    };
    const times: Record<string, number[]> = {};
    for (let i = 0; i < 100; i++)
      for (const [name, work] of Object.entries(works)) {
        const began = performance.now();
        await work();
        if (i >= 10) (times[name] ??= []).push(performance.now() - began); // the first ones start workers
      }
    console.log("\nA request on this machine, against the two database calls that it cannot do without");
    const base = median(times["one write and one read, without us"] ?? []);
    for (const [name, values] of Object.entries(times)) row(name, ms(median(values)), median(values) / base);
  } finally {
    await cloud.stop();
  }
}

const bundles = await bundleIfChanged();
const sizes = Object.entries(await bundledSizes(bundles)).toSorted(([, a], [, b]) => b - a);
console.log("Largest bundles of API functions (the limit is 300 KB)");
for (const [id, bytes] of sizes.filter(([id]) => !/^(tasks|schedules)\./.test(id)).slice(0, 3))
  row(id, `${(bytes / 1000).toFixed(0)} KB`);
start(bundles, ["health.get", "servers.list", "instances.clone", "authorize"]);
await requests(bundles);
process.exit(0); // the channel to whoever started this would keep the process alive
