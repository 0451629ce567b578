// Migrations: one after the other, each from where it was stopped, killed anywhere without harm, and again after a rollback.
import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import { BatchWriteCommand, paginateScan } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { getAccount } from "../../shared/records/accounts.ts";
import { startChange } from "../../shared/data/change.ts";
import { logEvent } from "../../shared/records/events.ts";
import { keys, keyString } from "../../shared/data/keys.ts";
import { readMembers, takeMember } from "../../shared/data/label-index.ts";
import { findSchema, hasMigrationsToRun, migrate, MIGRATIONS } from "../../shared/migrations/migrations.ts";
import { find, queryAll, removeOne, transact, updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { ownCloud } from "../harness/cloud.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { writeItems } from "../harness/seed-many.ts";
import { everyKey, table } from "../harness/table.ts";

/**
 * The point at which the data functions' calls are cut off: the nth write from now on, before or after it is done. Everything
 * later fails, too.
 */
let cut = { at: Number.POSITIVE_INFINITY, isDone: false };
let writes = 0;

/** An error after which the SDK does not try again. */
const DEAD = JSON.stringify({ __type: "ValidationException", message: "killed" });
const WRITE = /\.(?:TransactWriteItems|UpdateItem|PutItem|DeleteItem)$/;

async function proxyTo(databaseUrl: string): Promise<string> {
  const { port, hostname } = new URL(databaseUrl);
  const forward = ({ method, url, headers }: IncomingMessage, body: Buffer, respond: (response: IncomingMessage) => void) =>
    request({ hostname, port, method, path: url, headers }, respond).end(body);
  const server = createServer((incoming, response) => {
    const isWrite = WRITE.test(String(incoming.headers["x-amz-target"]));
    if (isWrite) writes += 1;
    const [number, { at, isDone }] = [writes, cut];
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const isCut = number === at && isWrite;
      if (number > at || (isCut && !isDone)) response.writeHead(400).end(DEAD);
      else
        forward(incoming, Buffer.concat(chunks), (result) => {
          if (isCut) response.writeHead(400).end(DEAD);
          else result.pipe(response.writeHead(result.statusCode ?? 500, result.headers));
        });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterAll(() => void server.close());
  return `http://127.0.0.1:${z.object({ port: z.number() }).parse(server.address()).port}`;
}

/** Every item, without what each run writes anew. */
async function snapshot(): Promise<Record<string, unknown>[]> {
  const { client, table: TableName } = table();
  const items: Record<string, unknown>[] = [];
  for await (const page of paginateScan({ client }, { TableName, ConsistentRead: true })) items.push(...(page.Items ?? []));
  return items;
}
const comparable = (items: readonly Record<string, unknown>[]) =>
  Object.fromEntries(
    items
      .map((item) => [keyString(item), { ...item, written_by: null, revision: null }] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );

async function restore(items: readonly Record<string, unknown>[]): Promise<void> {
  const { client, table: name } = table();
  const existingKeys = [...(await everyKey()).values()];
  for (let start = 0; start < existingKeys.length; start += 25) {
    const deletions = existingKeys.slice(start, start + 25).map((Key) => ({ DeleteRequest: { Key } }));
    await client.send(new BatchWriteCommand({ RequestItems: { [name]: deletions } }));
  }
  await writeItems(items);
}

/** More than one page of records, as the version before the first migration left them. */
const EVENTS = 26;
async function oldAccount(): Promise<TestAccount> {
  const me = await account({ seeded: true });
  const server = await seedServer(me.id, { labels: { env: "old" } });
  const instance = await seedInstance(me.id, { server_id: server.id, name: "Old shop", labels: { env: "old" } });
  await seedBackup(instance, { note: "old note", size_bytes: 7 });
  for (let i = 0; i < EVENTS; i++) {
    const change = startChange(await getAccount(me.id));
    logEvent(change, { operator: "operator", requestId: "test" }, "instance.update", {
      type: "instance",
      id: instance.id,
      name: "Old",
    });
    await change.commit();
  }
  for (const kind of ["server", "instance", "backup"] as const) {
    for (const member of await readMembers(kind, me.id)) await transact([takeMember(member)]);
    for (const { pk, sk } of await queryAll(keys.entries(kind, me.id))) await removeOne({ pk: String(pk), sk: String(sk) });
  }
  for (const { pk, sk } of await queryAll(keys.list("event", me.id)))
    await updateOne({ pk: String(pk), sk: String(sk) }, { remove: ["list_status", "list_parent", "list_protection"] }, {});
  for (const { pk, sk } of await queryAll(keys.counts("event", me.id)))
    if (!String(sk).startsWith("all")) await removeOne({ pk: String(pk), sk: String(sk) });
  for (const { pk, sk } of await queryAll(keys.record("backup", me.id, "").pk))
    await updateOne({ pk: String(pk), sk: String(sk) }, { remove: ["counted_bytes"] }, {});
  const quotas = ["used_backup", "used_backup_bytes", "limit_backup", "limit_backup_bytes"];
  await updateOne(keys.account(me.id), { remove: quotas }, {});
  await removeOne(keys.overview(me.id));
  return me;
}

const quiet = (): void => undefined;

let me: TestAccount;
let old: Record<string, unknown>[];
beforeAll(async () => {
  const cloud = await ownCloud();
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = await proxyTo(cloud.databaseUrl);
  me = await oldAccount();
  old = await snapshot();
});
beforeEach(async () => {
  cut = { at: Number.POSITIVE_INFINITY, isDone: false };
  await restore(old);
});

test("the data of a version before the first migration gets everything that this version writes itself", async () => {
  const totals = async () => {
    const paths = ["/instances?label=env:old", "/backups?search=old", "/events?type=instance.update", "/servers?search=seeded"];
    return Promise.all(paths.map(async (path) => (await me.api.get(path)).meta?.total));
  };
  expect(await totals()).toEqual([0, 0, 0, 0]);
  expect(await hasMigrationsToRun()).toBe(true);
  await migrate(quiet);
  expect(await totals()).toEqual([1, 1, EVENTS, 1]);
  expect(await findSchema()).toEqual({ done: MIGRATIONS.length, highest: MIGRATIONS.length, running: null });
  expect(await hasMigrationsToRun()).toBe(false);
  const migrated = comparable(await snapshot());
  await migrate(quiet);
  expect(comparable(await snapshot())).toEqual(migrated);
});

test("killed at any of its writes, before or after it is done, the next run completes it, and nothing is there twice", async () => {
  await migrate(quiet);
  const migrated = comparable(await snapshot());
  let killed = 0;
  for (let at = 1; ; at++) {
    await restore(old);
    [writes, cut] = [0, { at, isDone: at % 2 === 0 }];
    const ended = await migrate(quiet).then(
      () => true,
      () => false,
    );
    cut = { at: Number.POSITIVE_INFINITY, isDone: false };
    if (ended) break;
    killed += 1;
    await migrate(quiet);
    expect(comparable(await snapshot()), `killed at write ${at}`).toEqual(migrated);
  }
  expect(killed).toBeGreaterThan(EVENTS);
});

test("two runs at once do what one does", async () => {
  await migrate(quiet);
  const migrated = comparable(await snapshot());
  await restore(old);
  await Promise.all([migrate(quiet), migrate(quiet), migrate(quiet)]);
  expect(comparable(await snapshot())).toEqual(migrated);
});

test("a record that cannot be read stays as it is, and holds up nothing", async () => {
  const [damaged] = await queryAll(keys.record("backup", me.id, "").pk);
  const key = { pk: String(damaged?.["pk"]), sk: String(damaged?.["sk"]) };
  await updateOne(key, { set: { labels: "none", size_bytes: "many" } }, {});
  const event = (await queryAll(keys.list("event", me.id)))[3];
  await updateOne({ pk: String(event?.["pk"]), sk: String(event?.["sk"]) }, { set: { actor: "somebody" } }, {});
  await migrate(quiet);
  expect(await hasMigrationsToRun()).toBe(false);
  expect(await find({ key, schema: z.looseObject({}) })).toMatchObject({ labels: "none", size_bytes: "many" });
  expect((await me.api.get("/instances?label=env:old")).meta?.total).toBe(1);
  expect((await me.api.get("/events?type=instance.update")).meta?.total).toBe(EVENTS - 1);
});

describe("several migrations", () => {
  /** Each writes down what it is called for. */
  const calls: string[] = [];
  const buildMigration = (number: number, fails?: () => boolean) => ({
    number,
    name: `m${number}`,
    title: `Migration ${number}`,
    run: async function* (accountId: string, from?: { step: string }) {
      for (const step of ["a", "b"].filter((each) => each > (from?.step ?? ""))) {
        if (fails?.() === true && step === "b") throw new Error("killed");
        await updateOne(keys.account(accountId), { set: { [`m${number}_${step}`]: true } }, {});
        calls.push(`${number}${step}`);
        yield { step, after: {} };
      }
    },
  });
  beforeEach(() => calls.splice(0));

  test("run in their order, and go on where they were stopped", async () => {
    let fails = true;
    const both = [buildMigration(1), buildMigration(2, () => fails)];
    await expect(migrate(quiet, both)).rejects.toThrow("killed");
    expect(await findSchema()).toMatchObject({ done: 1, running: { number: 2, account_id: me.id, place: { step: "a" } } });
    expect(await hasMigrationsToRun(both)).toBe(true);
    fails = false;
    const lines: string[] = [];
    await migrate((line) => lines.push(line), both);
    expect(calls).toEqual(["1a", "1b", "2a", "2b"]);
    expect(lines).toEqual([
      "Migration 2, from where it was stopped: Migration 2 …",
      expect.stringMatching(/^Migration 2 is done/),
    ]);
    await migrate(quiet, both);
    expect(calls).toHaveLength(4);
  });

  test("an older version says that the data is of a newer one, and uses it; the upgrade after that repeats what the older one lacked", async () => {
    await migrate(quiet, [buildMigration(1), buildMigration(2)]);
    const lines: string[] = [];
    for (let starts = 0; starts < 2; starts++) await migrate((line) => lines.push(line), [buildMigration(1)]);
    expect(lines).toEqual(Array(2).fill(expect.stringContaining("newer version (migration 2; this version knows 1)")));
    calls.splice(0);
    await migrate(quiet, [buildMigration(1), buildMigration(2)]);
    expect(calls).toEqual(["2a", "2b"]);
    expect(await findSchema()).toMatchObject({ done: 2, highest: 2, running: null });
  });

  test("an older version that starts while one of a newer version runs stops it, and nothing counts as done", async () => {
    const slow = {
      ...buildMigration(2),
      run: async function* (accountId: string) {
        yield { step: "a", after: {} };
        await migrate(quiet, []);
        await updateOne(keys.account(accountId), { set: { m2_b: true } }, {});
        yield { step: "b", after: {} };
      },
    };
    const interrupted: string[] = [];
    let runs = 0;
    const once = { ...slow, run: (id: string) => ((runs += 1) === 1 ? slow.run(id) : buildMigration(2).run(id)) };
    await migrate((line) => interrupted.push(line), [buildMigration(1), once]);
    expect(calls).toEqual(["1a", "1b", "1a", "1b", "2a", "2b"]);
    expect(await findSchema()).toMatchObject({ done: 2 });
  });
});

test("the numbers of migrations are one after another", () => {
  expect(MIGRATIONS.map(({ number }) => number)).toEqual(MIGRATIONS.map((_, i) => i + 1));
});
