// DynamoDB Local on this machine: its own Java, which ends with the process that started it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient, GetItemCommand, TransactWriteItemsCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, expect, inject, test, vi } from "vitest";
import { ROOT } from "../../infra/built.ts";
import { callDynamoDb, createTable, type Database, deleteTable, startDynamoDb } from "../../infra/local/dynamodb/dynamodb.ts";
import { startLocal, TABLE_PROPERTIES } from "./services.ts";

const folder = await mkdtemp(join(tmpdir(), "dynamodb-test-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

vi.setConfig({ testTimeout: 240_000 }); // Java starts in a second alone, and in many beside other tests

/** A zombie has ended: if PID 1 collects no orphans, it stays in the list. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const status = `/proc/${pid}/status`;
  return !(existsSync(status) && /^State:\s*Z/m.test(readFileSync(status, "utf8")));
}
async function ended(pid: number): Promise<boolean> {
  for (let waited = 0; runs(pid) && waited < 1000; waited++) await new Promise((done) => setTimeout(done, 50));
  return !runs(pid);
}
async function isListening(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port, timeout: 10_000 });
  const first = await Promise.race(
    ["connect", "error", "timeout"].map((event) =>
      once(socket, event).then(
        () => event,
        () => "error",
      ),
    ),
  );
  socket.destroy();
  return first === "connect";
}

test("no folder of builds, of which old ones are removed, is a folder of data", () => {
  const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), "utf8");
  const [, folders = ""] = /^const FOLDERS = \[(.+)\];$/m.exec(read("infra", "local", "start.ts")) ?? [];
  const data = folders.split(", ").map((name) => name.slice(1, -1));
  expect(data).toContain("dynamodb");
  const sources = ["infra", "test"].flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT }));
  const builds = sources.flatMap((file) =>
    [...read(file).matchAll(/join\(ROOT, "\.local", "([^"]+)"\)/g)].map(([, name]) => name),
  );
  expect(builds).toContain("bundles");
  expect(builds.filter((name) => data.includes(String(name)))).toEqual([]);
});

test("only who knows the access key reaches the data", async () => {
  const database = await startDynamoDb({ dataDir: join(folder, "closed"), accessKeyId: "AKIASECRET" });
  const status = async (accessKeyId: string): Promise<number> => {
    const headers = {
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/us-east-1/dynamodb/aws4_request, Signature=0`,
    };
    return (
      await fetch(database.url, {
        method: "POST",
        headers: { ...headers, "x-amz-target": "DynamoDB_20120810.ListTables" },
        body: "{}",
      })
    ).status;
  };
  for (const stranger of ["local", "AKIASECRE", "AKIASECRETS", ""]) expect(await status(stranger), stranger).toBe(403);
  expect((await fetch(database.url, { method: "POST", body: "{}" })).status).toBe(403);
  expect((await callDynamoDb(database, "ListTables", {})).status).toBe(200);
  await database.stop();
});

test("DynamoDB Local listens on 127.0.0.1 only", async () => {
  const database = await startDynamoDb({});
  const port = Number(new URL(database.url).port);
  const allAddresses = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address }) => address);
  expect(await isListening("127.0.0.1", port)).toBe(true);
  for (const address of allAddresses.filter((each) => each !== "127.0.0.1"))
    expect([address, await isListening(address, port)]).toEqual([address, false]);
  await database.stop();
  expect(runs(database.pid)).toBe(false);
  await database.exited;
});

test("tables with the same schema do not share what is changed in one of them", async () => {
  const [changed, unchanged]: [Database, Database] = [
    { url: inject("databaseUrl"), accessKeyId: "changed" },
    { url: inject("databaseUrl"), accessKeyId: "unchanged" },
  ];
  const lifetimeOf = async (database: Database): Promise<unknown> =>
    (await callDynamoDb(database, "DescribeTimeToLive", { TableName: "service" })).body;
  const disabled = { TimeToLiveDescription: { TimeToLiveStatus: "DISABLED" } };
  for (const each of [changed, unchanged]) {
    await createTable(each, TABLE_PROPERTIES);
    expect(await lifetimeOf(each)).toEqual(disabled);
  }
  await createTable(changed, { ...TABLE_PROPERTIES, TimeToLiveSpecification: { AttributeName: "ttl", Enabled: true } });
  expect(await lifetimeOf(changed)).toEqual({ TimeToLiveDescription: { AttributeName: "ttl", TimeToLiveStatus: "ENABLED" } });
  expect(await lifetimeOf(unchanged)).toEqual(disabled);
  for (const each of [changed, unchanged]) await deleteTable(each, "service");
});

test("data survives a restart, and a table with another key fails with what to do", async () => {
  const dataDir = join(folder, "kept");
  const first = await startDynamoDb({ dataDir });
  await createTable(first, TABLE_PROPERTIES);
  await callDynamoDb(first, "PutItem", { TableName: "service", Item: { pk: { S: "a" }, sk: { S: "b" } } });
  await expect(startDynamoDb({ dataDir })).rejects.toThrow(`in use by process ${process.pid}`);
  await first.stop();
  const second = await startDynamoDb({ dataDir });
  // Created by a version without expiring items.
  for (let start = 0; start < 2; start++)
    await createTable(second, { ...TABLE_PROPERTIES, TimeToLiveSpecification: { AttributeName: "ttl", Enabled: true } });
  const { body } = await callDynamoDb(second, "DescribeTimeToLive", { TableName: "service" });
  expect(body).toEqual({ TimeToLiveDescription: { AttributeName: "ttl", TimeToLiveStatus: "ENABLED" } });
  const read = await callDynamoDb(second, "GetItem", { TableName: "service", Key: { pk: { S: "a" }, sk: { S: "b" } } });
  expect(read.body).toEqual({ Item: { pk: { S: "a" }, sk: { S: "b" } } });
  const other = { ...TABLE_PROPERTIES, KeySchema: [{ AttributeName: "sk", KeyType: "HASH" }] };
  await expect(createTable(second, other)).rejects.toThrow("was created with another key");
  await second.stop();
});

test("an index of a newer version is built from what is there, and stays when an older version comes back", async () => {
  const database: Database = { url: inject("databaseUrl"), accessKeyId: "upgraded" };
  const { GlobalSecondaryIndexes: _, ...rest } = TABLE_PROPERTIES;
  const older = { ...rest, AttributeDefinitions: rest.AttributeDefinitions.slice(0, 2) };
  await createTable(database, older);
  const Item = { pk: { S: "a" }, sk: { S: "b" }, status: { S: "active" } };
  await callDynamoDb(database, "PutItem", { TableName: "service", Item });
  const queryIndex = (): Promise<{ body: unknown }> =>
    callDynamoDb(database, "Query", {
      TableName: "service",
      IndexName: "by-status",
      KeyConditionExpression: "#status = :active",
      ExpressionAttributeNames: { "#status": "status" },
      ExpressionAttributeValues: { ":active": { S: "active" } },
    });
  for (const version of [TABLE_PROPERTIES, older, TABLE_PROPERTIES]) {
    await createTable(database, version);
    expect((await queryIndex()).body).toMatchObject({ Items: [Item] });
  }
  const [index] = TABLE_PROPERTIES.GlobalSecondaryIndexes;
  const changed = { ...TABLE_PROPERTIES, GlobalSecondaryIndexes: [{ ...index, KeySchema: older.KeySchema }] };
  await expect(createTable(database, changed)).rejects.toThrow("was created with another index by-status");
  await deleteTable(database, "service");
});

test("what is in the write-ahead log moves into the file, while DynamoDB Local uses both", async () => {
  const dataDir = join(folder, "log");
  const database = await startDynamoDb({ dataDir });
  await createTable(database, TABLE_PROPERTIES);
  const [file, log] = ["db", "db-wal"].map((suffix) => join(dataDir, `shared-local-instance.${suffix}`));
  const holds = (path: string | undefined, text: string) => readFileSync(path ?? "").includes(text);
  for (const text of ["a first item", "a second item"]) {
    await callDynamoDb(database, "PutItem", { TableName: "service", Item: { pk: { S: text }, sk: { S: "x" } } });
    expect(holds(log, text)).toBe(true);
    await expect.poll(() => holds(file, text)).toBe(true);
  }
  await database.stop();
});

test("an acknowledged transaction survives killing Java at that moment", async () => {
  const databaseDir = join(folder, "transactions");
  const acknowledged: string[] = [];
  const lost: string[] = [];
  // Without a flush most kills lose the last transaction.
  for (let round = 0; round <= 3; round++) {
    const local = await startLocal({ databaseDir });
    const client = new DynamoDBClient(local.as("operator"));
    const key = (id: string) => ({ pk: { S: id }, sk: { S: "x" } });
    for (const id of acknowledged.splice(0)) {
      const { Item } = await client.send(new GetItemCommand({ TableName: "service", Key: key(id) }));
      if (Item === undefined) lost.push(id);
    }
    for (let number = 0; number < 10; number++) {
      const id = `${round}-${number}`;
      const puts = [id, `${id}-beside`].map((each) => ({ Put: { TableName: "service", Item: key(each) } }));
      await client.send(new TransactWriteItemsCommand({ TransactItems: puts }));
      acknowledged.push(id);
    }
    process.kill(local.databasePid ?? 0, "SIGKILL");
    await local.stop();
  }
  expect(lost).toEqual([]);
});

test("Java ends when the process that started it is killed", async () => {
  const module = join(import.meta.dirname, "../../infra/local/dynamodb/dynamodb.ts");
  const dataDir = join(folder, "killed");
  const script = `import(${JSON.stringify(module)}).then(async (m) => console.log((await m.startDynamoDb({ dataDir: ${JSON.stringify(dataDir)} })).pid))`;
  const parent = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(parent.stdout, "data");
  const pid = Number(String(line));
  expect(runs(pid)).toBe(true);
  parent.kill("SIGKILL");
  expect(await ended(pid)).toBe(true);
  const next = await startDynamoDb({ dataDir });
  await next.stop();
});

test("an orphan that still holds the folder is ended, but not another program with the same process ID", async () => {
  const dataDir = join(folder, "orphan");
  const source = join(import.meta.dirname, "../../infra/local/dynamodb/LoopbackDynamoDb.java");
  await (await startDynamoDb({ dataDir })).stop();
  for (const [args, spared] of [
    [[source, dataDir], false],
    [["another"], true],
  ] as const) {
    const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", ...args], { stdio: "ignore" });
    await once(other, "spawn");
    await writeFile(join(dataDir, "dynamodb.pid"), JSON.stringify({ pid: other.pid, parent: 4_000_000 }));
    await (await startDynamoDb({ dataDir })).stop();
    expect(other.signalCode === null).toBe(spared);
    other.kill("SIGKILL");
  }
});

test("a failed start says what to do in one line", async () => {
  const broken = join(folder, "broken");
  await (await startDynamoDb({ dataDir: broken })).stop();
  await writeFile(join(broken, "shared-local-instance.db"), "not a database".repeat(1000));
  await expect(startDynamoDb({ dataDir: broken })).rejects.toThrow(/cannot use its data in .*broken.*--reset/);
  await writeFile(join(folder, "file"), "");
  await expect(startDynamoDb({ dataDir: join(folder, "file", "below") })).rejects.toThrow("is not writable");
  const path = process.env["PATH"];
  process.env["PATH"] = folder;
  try {
    await expect(startDynamoDb({})).rejects.toThrow(/Java 17 or later is needed.*apt-get install openjdk-17-jre-headless/);
    await writeFile(join(folder, "java"), "#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\nexit 1\n", { mode: 0o755 });
    await expect(startDynamoDb({})).rejects.toThrow("`java` is version 11");
  } finally {
    process.env["PATH"] = path;
  }
});
