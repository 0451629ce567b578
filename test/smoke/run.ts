// `npm run smoke -- live`: one server, one instance, a backup, a restore and a clone through the API of a running service. It
// removes everything, whatever happened in between. In `live` this rents a real machine for some minutes.
import { createHash, randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import type { Catalog } from "../../shared/api/catalog.ts";
import { type Client, ClientError, createClient } from "../../shared/api/client.ts";
import type { Instance } from "../../shared/api/instances.ts";
import type { Operation } from "../../shared/api/operations.ts";
import { createKeyPair } from "../../shared/platform/key-pair.ts";

const USAGE = `npm run smoke -- live|test [--url URL] [--provider CODE] [--region CODE] [--size CODE] [--domain NAME] [--version V]
  Set the environment variable TOKEN to an API token of that environment with all permissions.
  --url     base URL of the API; default: the one that \`npm start\` runs on this machine
  --domain  a domain whose DNS you control, if you also want to see its certificate; default: one that does not resolve
  Without --provider, --region and --size, the first provider's smallest machine is used.`;

/** The longest that any operation may take: a machine's boot and preparation, at a provider's slowest. */
const OPERATION_MINUTES_MAX = 45;
const WAIT_SECONDS = 20;

let passed = 0;
let failed = 0;
let interrupted = false;
process.on("SIGINT", () => {
  interrupted = true;
  console.log("\nInterrupted: deleting everything …");
});

async function main(): Promise<void> {
  const { environment, url, token, wishes, domain, version } = options();
  const client = createClient({ baseUrl: url, token: () => token });
  const health = await client.health.get();
  if (health.data.environment !== environment)
    stop(`The service at ${url} is the ${health.data.environment} environment, not ${environment}.`);
  const { data: catalog } = await client.catalog.get();
  const place = placeOf(catalog, wishes);
  console.log(
    `One ${place.size} of ${place.provider} in ${place.region}; it is given back at the end, and so is everything else.\n`,
  );
  const cleanUp: Undo[] = [];
  try {
    await walk(client, place, { domain, version: version ?? catalog.erp_versions[0]?.version ?? "" }, cleanUp);
  } catch (error) {
    failed += 1;
    console.log(`✗ ${wordsOf(error)}`);
  } finally {
    interrupted = false; // now nothing stops it from releasing what it created
    for (const [label, undo] of cleanUp.toReversed())
      await step(label, undo).catch((error: unknown) => {
        failed += 1;
        console.log(`✗ ${wordsOf(error)}: remove it by hand`);
      });
  }
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

type Undo = [label: string, undo: () => Promise<unknown>];

async function walk(
  client: Client,
  place: { provider: string; region: string; size: string },
  erp: { domain: string; version: string },
  cleanUp: Undo[],
): Promise<void> {
  const mark = `smoke-${randomBytes(3).toString("hex")}`;
  const ended = (operationId: string | null) => end(client, operationId);

  const key = await step("an SSH key is added, whose private half nobody has", async () => {
    const { data } = await client.sshKeys.create({
      body: { name: mark, public_key: createKeyPair(randomBytes(32), mark).public_key },
    });
    cleanUp.push(["the SSH key is deleted", () => client.sshKeys.delete({ params: { id: data.id } })]);
    return data;
  });
  const server = await step("a server is rented and prepared", async () => {
    const { data } = await client.servers.create({ body: { ...place, name: mark, ssh_key_id: key.id }, idempotencyKey: mark });
    cleanUp.push([
      "the server is given back",
      async () => ended((await client.servers.delete({ params: { id: data.id } })).data.id),
    ]);
    await ended(data.operation_id);
    return data;
  });

  const removeInstance = ({ id }: { id: string }, what: string): Undo => [
    `the ${what} is deleted`,
    async () => ended((await client.instances.delete({ params: { id } })).data.id),
  ];
  const instance = await step(`ERP ${erp.version} is installed and responds`, async () => {
    const { data } = await client.instances.create({
      body: {
        name: mark,
        server_id: server.id,
        erp_version: erp.version,
        edition: "community",
        database_name: mark.replaceAll("-", "_"),
        admin_email: "smoke@example.com",
        domain: erp.domain,
      },
    });
    cleanUp.push(removeInstance(data, "instance"));
    await ended(data.operation_id);
    return data;
  });

  const backup = await step("a backup is made, and its archive is the one that its record tells of", async () => {
    const { data } = await client.backups.create({ params: { id: instance.id }, body: { note: "smoke" } });
    cleanUp.push([
      "the backup is deleted",
      async () => ended((await client.backups.delete({ params: { id: data.id } })).data.id),
    ]);
    await ended(data.operation_id);
    const { data: record } = await client.backups.get({ params: { id: data.id } });
    const { data: download } = await client.backups.download({ params: { id: data.id } });
    const sha256 = await sha256Of(download.url);
    if (sha256 !== record.sha256) throw new Error(`the archive's SHA-256 is ${sha256}, the record says ${record.sha256}`);
    return record;
  });
  await step("the backup is restored", async () => {
    const { data } = await client.backups.restore({ params: { id: backup.id }, body: { backup_first: false } });
    await ended(data.id);
  });
  await step("it is cloned, neutralized and verified", async () => {
    const { data } = await client.instances.clone({
      params: { id: instance.id },
      body: { name: `${mark}-clone`, domain: `clone.${erp.domain}`, backup_id: backup.id },
    });
    cleanUp.push(removeInstance(data, "clone"));
    const { result } = await ended(data.operation_id);
    if (result?.verification?.is_neutralized !== true) throw new Error("the clone is not neutralized");
  });
  for (const [action, status] of [
    ["stop", "stopped"],
    ["start", "running"],
  ] as const)
    await step(`${action}: the instance is ${status}`, async () => {
      await ended((await client.instances.act({ params: { id: instance.id }, body: { action } })).data.id);
      const { data } = await client.instances.get({ params: { id: instance.id } });
      requireStatus(data, status);
    });
}

function requireStatus({ status }: Instance, expected: Instance["status"]): void {
  if (status !== expected) throw new Error(`the instance is ${status}`);
}

async function step<T>(label: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    requireWanted();
    const result = await work();
    passed += 1;
    console.log(`✓ ${label} (${((performance.now() - began) / 1000).toFixed(0)} s)`);
    return result;
  } catch (error) {
    throw new Error(`${label}: ${wordsOf(error)}`, { cause: error });
  }
}

function requireWanted(): void {
  if (interrupted) throw new Error("interrupted");
}

/** Waits until an operation has ended, and throws its error. */
async function end(client: Client, operationId: string | null): Promise<Operation> {
  if (operationId === null) throw new Error("the response names no operation");
  const deadline = Date.now() + OPERATION_MINUTES_MAX * 60_000;
  let last = "";
  for (;;) {
    const { data } = await client.operations.get({ params: { id: operationId }, query: { wait: WAIT_SECONDS } });
    if (data.step !== null && data.step !== last) console.log(`    ${(last = data.step)}`);
    if (data.status === "succeeded") return data;
    if (data.status === "failed") throw new Error(`${data.error?.code}: ${data.error?.message} (${operationId})`);
    requireWanted();
    if (Date.now() > deadline) throw new Error(`${operationId} has not ended after ${OPERATION_MINUTES_MAX} minutes`);
  }
}

/** Hashes the stream: an archive may be larger than memory. */
async function sha256Of(url: string): Promise<string> {
  const { ok, status, body } = await fetch(url);
  if (!ok || body === null) throw new Error(`the archive cannot be downloaded (HTTP ${status})`);
  const hash = createHash("sha256");
  for await (const chunk of body) hash.update(chunk);
  return hash.digest("hex");
}

interface Wishes {
  provider: string | undefined;
  region: string | undefined;
  size: string | undefined;
}

/** The requested values, and for the others the first region that has the smallest machine. */
function placeOf({ providers }: Catalog, wishes: Wishes): { provider: string; region: string; size: string } {
  const provider = providers.find(({ code }) => wishes.provider === undefined || code === wishes.provider);
  if (provider === undefined)
    return stop(`No provider ${wishes.provider ?? "is configured"}; there are: ${providers.map(({ code }) => code).join(", ")}`);
  const size = provider.sizes
    .filter(({ code, regions }) => (wishes.size === undefined || code === wishes.size) && regions.length > 0)
    .filter(({ regions }) => wishes.region === undefined || regions.includes(wishes.region))
    .toSorted((one, other) => one.memory_gb - other.memory_gb || one.cpu - other.cpu)[0];
  const region = wishes.region ?? size?.regions[0];
  if (size === undefined || region === undefined) return stop(`${provider.name} offers no such machine there now.`);
  return { provider: provider.code, region, size: size.code };
}

function options() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        url: { type: "string" },
        provider: { type: "string" },
        region: { type: "string" },
        size: { type: "string" },
        domain: { type: "string", default: `smoke-${randomBytes(4).toString("hex")}.example.com` },
        version: { type: "string" },
        help: { type: "boolean" },
      },
    });
    if (values.help === true) {
      console.log(USAGE);
      process.exit(0);
    }
    const [environment = ""] = positionals;
    const token = process.env["TOKEN"];
    if (!["live", "test"].includes(environment) || positionals.length !== 1) return stop(USAGE);
    if (token === undefined || token === "") return stop(`TOKEN is not set.\n${USAGE}`);
    const { provider, region, size, domain, version } = values;
    const url = values.url ?? `http://127.0.0.1:${environment === "live" ? 3100 : 3000}/api/v1`;
    return { environment, url, token, domain, version, wishes: { provider, region, size } };
  } catch (error) {
    return stop(`${wordsOf(error)}\n${USAGE}`);
  }
}

function wordsOf(error: unknown): string {
  if (error instanceof ClientError) return `${error.code}: ${error.message} (request ${error.requestId ?? "without a response"})`;
  return error instanceof Error ? error.message : String(error);
}

function stop(sentence: string): never {
  console.error(sentence);
  process.exit(2);
}

await main();
