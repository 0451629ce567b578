// A live environment for the tests of providers: its own table and secrets, a fake of each rented provider, and nothing else.
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { afterAll, inject, vi } from "vitest";
import * as z from "zod";
import createWorkflow from "../../functions/workflows/create-server/workflow.ts";
import deleteWorkflow from "../../functions/workflows/delete-server/workflow.ts";
import { handler as createTasks } from "../../functions/workflows/create-server/tasks.ts";
import { handler as deleteTasks } from "../../functions/workflows/delete-server/tasks.ts";
import { createTable } from "../../infra/local/dynamodb/dynamodb.ts";
import { openSecrets } from "../../infra/local/secrets/secrets.ts";
import { readTemplate } from "../../infra/local/template/template.ts";
import { REGION } from "../../infra/local/template/resolve.ts";
import { stackName } from "../../infra/settings.ts";
import { getAccount, newAccount } from "../../shared/records/accounts.ts";
import { startChange } from "../../shared/data/change.ts";
import { keys } from "../../shared/data/keys.ts";
import { reserveOperation } from "../../shared/records/operations.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import type { ServerRecord } from "../../shared/records/schemas/server.ts";
import { getServer, moveServerToDeleting, reserveServer } from "../../shared/records/servers.ts";
import { reserveSshKey } from "../../shared/records/ssh-keys.ts";
import { putIfAbsent } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { execute, type Fatality, fetchMortally, type Running } from "./executions.ts";
import { configurationOf, type Fakes, PROVIDERS, type Rented, RENTED, startFakes } from "./table.ts";

const BY = { operator: "test", requestId: "test" };
const TABLE = "live-table";

type ProviderCode = Rented | "byo";

export const OWN_MACHINE = {
  name: "cellar-1",
  address: "203.0.113.7",
  port: 2222,
  host_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA cellar",
  cpu: 4,
  memory_gb: 16,
  disk_gb: 200,
};

const OWN_PLACE = { region: "own", size: OWN_MACHINE.name };

export interface ProviderHarness extends Fakes {
  configure: (configuration: object) => Promise<void>;
  /** Replaces the secret that the keys derive from. */
  rotate: () => Promise<void>;
  account: () => Promise<string>;
  /** Creates a server and runs its operation to the end. */
  create: (accountId: string, provider: ProviderCode, options?: RunOptions) => Promise<Outcome>;
  remove: (server: ServerRecord, options?: RunOptions) => Promise<OperationRecord>;
}
interface RunOptions {
  fatality?: Fatality;
  random?: () => number;
  twin?: Running["twin"];
  name?: string;
}
export interface Outcome {
  server: ServerRecord;
  operation: OperationRecord;
}

/** Starts the fake providers for the calling file, whose clock stands still unless something waits. */
export async function providerHarness(): Promise<ProviderHarness> {
  // This file has its own tables, because it has its own key.
  const database = { url: inject("databaseUrl"), accessKeyId: randomBytes(8).toString("hex") };
  const secrets = await secretsManager();
  const fakes = await startFakes();
  afterAll(async () => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
    await Promise.all([...RENTED.map((provider) => fakes[provider].stop()), secrets.stop()]);
  });
  Object.assign(process.env, {
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: database.accessKeyId,
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_ENDPOINT_URL_DYNAMODB: database.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
    TABLE_NAME: TABLE,
    ENVIRONMENT: "live",
    HOSTS_KEY: secrets.hosts,
    PROVIDERS_SECRET: secrets.providers,
  });
  const [table] = readTemplate(inject("outDir"), stackName("test")).tables;
  await createTable(database, { ...table?.properties, TableName: TABLE });
  for (const method of ["info", "warn"] as const) vi.spyOn(console, method).mockImplementation(() => undefined);
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-20T12:00:00.000Z") });
  fetchMortally();

  /** No test looks for images in the internet. */
  const registry = { mirror: "127.0.0.1:9" };
  const configure = async (configuration: object): Promise<void> => {
    await secrets.put(secrets.providers, JSON.stringify({ registry, ...configuration }));
    vi.setSystemTime(Date.now() + 120_000); // older than the retention
  };
  await configure({ ...configurationOf(fakes), byo: { machines: [OWN_MACHINE] } });
  const rotate = async (): Promise<void> => {
    await secrets.put(secrets.hosts, randomBytes(32).toString("hex"));
    vi.setSystemTime(Date.now() + 600_000); // older than the retention
  };
  return { ...fakes, configure, rotate, account, create, remove };
}

async function account(): Promise<string> {
  const record = { ...newAccount(newId("account"), "Tests"), limit_server: 10_000, limit_ssh_key: 10_000 };
  await putIfAbsent(keys.account(record.id), record);
  return record.id;
}

let lastName = 0;

async function create(accountId: string, provider: ProviderCode, options: RunOptions = {}): Promise<Outcome> {
  const { fatality = () => Infinity, random = Math.random, twin, name = `erp-${(lastName += 1)}` } = options;
  const change = startChange(await getAccount(accountId));
  const key = reserveSshKey(change, { name: `key of ${name}`, public_key: "ssh-ed25519 AAAA", fingerprint: "SHA256:x" });
  const operationId = newId("operation");
  const specs = { cpu: 2, memory_gb: 4, disk_gb: 40 };
  const place = provider === "byo" ? OWN_PLACE : PROVIDERS[provider].place;
  const server = reserveServer(
    change,
    { provider, ...place, name, specs, ssh_key_id: key.id, ssh_key_name: "Work laptop" },
    operationId,
  );
  const operation = reserveOperation(change, BY, {
    id: operationId,
    type: "server.create",
    resource: { type: "server", id: server.id, name },
  });
  await change.commit();
  const ended = await execute(createWorkflow, operation, { handler: createTasks, fatality, random, twin });
  return { operation: ended, server: await getServer(accountId, server.id) };
}

async function remove(
  server: ServerRecord,
  { fatality = () => Infinity, random = Math.random, twin }: RunOptions = {},
): Promise<OperationRecord> {
  const change = startChange(await getAccount(server.account_id));
  const operationId = newId("operation");
  moveServerToDeleting(change, server, operationId);
  const { id, name } = server;
  const operation = reserveOperation(change, BY, {
    id: operationId,
    type: "server.delete",
    resource: { type: "server", id, name },
  });
  await change.commit();
  return execute(deleteWorkflow, operation, { handler: deleteTasks, fatality, random, twin });
}

/** Starts a secrets manager like the local runner's, with its own port. */
async function secretsManager() {
  const secrets = openSecrets({});
  for (const name of ["hosts", "providers"])
    secrets.ensure({ name, arn: arnOf(name), properties: { GenerateSecretString: { ExcludePunctuation: true } } });
  const server = createServer((request, response) => {
    void json(request)
      .then((input) => secrets.call(String(request.headers["x-amz-target"]).split(".")[1] ?? "", input))
      .then((output) => response.writeHead(200, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(output)))
      .catch((error: unknown) => response.writeHead(400).end(JSON.stringify({ __type: nameOf(error) })));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    hosts: arnOf("hosts"),
    providers: arnOf("providers"),
    put: (SecretId: string, SecretString: string) => secrets.call("PutSecretValue", { SecretId, SecretString }),
    stop: () =>
      new Promise<void>((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
}

const arnOf = (name: string): string => `arn:aws:secretsmanager:eu-central-1:000000000000:secret:${name}-AbCdEf`;
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "InternalServiceError");
