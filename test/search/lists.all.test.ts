// What lists find: labels, words, dates, several filters at once, in either order, by page and by cursor.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { account, type TestAccount } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { startChange } from "../../shared/data/change.ts";
import { editBackup, getBackup } from "../../shared/records/backups.ts";
import { indexed } from "../harness/indexed.ts";
import type { Update } from "../../shared/data/expressions.ts";
import { type Key, keys } from "../../shared/data/keys.ts";
import { ownerString, readMembers, takeMember } from "../../shared/data/label-index.ts";
import { queryAll, removeOne, transact, updateOne, updateRaw } from "../../shared/data/table.ts";
import { overviewFor } from "../../shared/records/overview.ts";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";

let me: TestAccount;
const Named = z.looseObject({ id: z.string(), name: z.string(), created_at: z.string() });
const names = async (path: string, api = me.api) => (await api.get(path)).as(z.array(Named)).map(({ name }) => name);

const DAY = 86_400_000;
const on = (day: number): string => new Date(Date.parse("2026-11-01T00:00:00.000Z") + day * DAY).toISOString();

/** A number of backups at which dates are found by their blocks, not by reading all. */
const MANY = 330;

beforeAll(async () => {
  me = await account({ seeded: true });
  const server = await seedServer(me.id);
  const seeds = [
    { name: "Crème Brûlée", state: "running", protection_status: "protected", labels: { env: "production", team: "sales" } },
    { name: "Straße 12", state: "stopped", labels: { env: "production" } },
    { name: "shop-west", state: "running", labels: { env: "staging" }, domain: "west.shops.example.com" },
    { name: "Shop East", state: "failed" },
  ] as const;
  for (const [day, fields] of seeds.entries())
    await seedInstance(me.id, {
      server_id: server.id,
      database_name: `books_${["zero", "one", "two", "three"][day]}`,
      created_at: on(day),
      ...fields,
    });
});

describe("what instances are found", () => {
  test.each([
    ["search=creme", ["Crème Brûlée"]],
    ["search=BRULEE%20cr", ["Crème Brûlée"]],
    ["search=reme", []],
    ["search=%F0%9F%8E%89", []],
    ["search=strasse", ["Straße 12"]],
    ["search=shop", ["Shop East", "shop-west"]],
    ["search=west.shops.example", ["shop-west"]],
    ["search=books_two", ["shop-west"]],
    ["label=env:production", ["Straße 12", "Crème Brûlée"]],
    ["label=env:production&label=team:sales", ["Crème Brûlée"]],
    ["label=env:prod", []],
    ["label=team:", []],
    ["status=running&label=env:staging", ["shop-west"]],
    ["status=running&protection=protected", ["Crème Brûlée"]],
    ["status=running&protection=overdue", []],
    ["sort=name", ["Crème Brûlée", "Shop East", "shop-west", "Straße 12"]],
    ["sort=name&order=desc", ["Straße 12", "shop-west", "Shop East", "Crème Brûlée"]],
    ["order=asc", ["Crème Brûlée", "Straße 12", "shop-west", "Shop East"]],
    ["created_after=2026-11-03", ["Shop East", "shop-west"]],
    ["created_before=2026-11-03T00:00:00Z", ["Straße 12", "Crème Brûlée"]],
    ["created_after=2026-11-02&created_before=2026-11-03&status=stopped", ["Straße 12"]],
    ["created_after=2026-11-02&order=asc&label=env:staging", ["shop-west"]],
  ])("%s", async (query, expected) => {
    expect(await names(`/instances?${query}`)).toEqual(expected);
    const { api } = await me.token();
    const walked: string[] = [];
    let cursor = "";
    do {
      const page: Awaited<ReturnType<typeof api.get>> = await api.get(`/instances?${query}&per_page=1${cursor}`);
      expect(page.meta?.total).toBe(expected.length);
      walked.push(...page.as(z.array(Named)).map(({ name }) => name));
      cursor = page.meta?.next_cursor ? `&cursor=${page.meta.next_cursor}` : "";
    } while (cursor !== "");
    expect(walked).toEqual(expected);
  });

  test("the list of a server takes the same filters", async () => {
    const { server_id = "" } =
      (await me.api.get("/instances?search=creme")).as(z.array(z.looseObject({ server_id: z.string() })))[0] ?? {};
    const at = `/instances?server_id=${server_id}`;
    expect(await names(`${at}&label=env:production&status=stopped`)).toEqual(["Straße 12"]);
    expect(await names(`${at}&search=shop&sort=name`)).toEqual(["Shop East", "shop-west"]);
    expect(await names(`${at}&created_before=2026-11-02`)).toEqual(["Crème Brûlée"]);
  });

  test("a cursor belongs to its filters, its order and its account", async () => {
    const { next_cursor } = (await me.api.get("/instances?label=env:production&per_page=1")).meta ?? {};
    expect(next_cursor).toEqual(expect.any(String));
    for (const other of ["label=env:staging", "label=env:production&order=asc", "search=shop", "sort=name", "status=running"])
      expect((await me.api.get(`/instances?${other}&cursor=${next_cursor}`)).error).toMatchObject({
        details: { field: "cursor" },
      });
    const stranger = await account();
    expect((await stranger.api.get(`/instances?label=env:production&cursor=${next_cursor}`)).body).toMatchObject({
      data: [],
      meta: { total: 0 },
    });
  });
});

test("labels are set at creation, replaced whole, and copied to backups and clones", async () => {
  const other = await account({ seeded: true });
  const server = await other.api.post(
    "/servers",
    await other.serverBody({ labels: { env: " production ", owner: "", constructor: "a" } }),
  );
  expect(server.body).toMatchObject({ data: { labels: { env: "production", owner: "", constructor: "a" } } });
  expect((await other.api.get("/servers?label=constructor:a")).meta?.total).toBe(1);
  const instance = await other.instance({ name: "Labeled" });
  const path = `/instances/${instance.id}`;
  const { headers } = await other.api.get(path);
  expect((await other.api.put(path, { labels: { env: "production" } })).body).toMatchObject({
    data: { labels: { env: "production" } },
  });
  expect((await other.api.put(path, { name: "Renamed" }, { headers: { "if-match": headers["etag"] ?? "" } })).status).toBe(412);
  await other.api.put(path, { name: "Renamed" });
  expect(await names("/instances?search=labeled", other.api)).toEqual([]);
  expect(await names("/instances?search=rename", other.api)).toEqual(["Renamed"]);
  const backup = (await other.api.post(`${path}/backups`, { note: "Übergabe" })).as(
    z.looseObject({ id: z.string(), labels: z.unknown(), operation_id: z.string() }),
  );
  expect(backup.labels).toEqual({ env: "production" });
  await other.until(backup.operation_id);
  const response = await other.api.get("/backups?label=env:production&status=completed&search=ubergabe");
  expect(response.meta?.total).toBe(1);
  const clone = await other.api.post(`${path}/clone`, { name: "Copy", domain: "copy.example.com", backup_id: backup.id });
  expect(clone.body).toMatchObject({ data: { labels: { env: "production" } } });
  expect((await other.api.put(`/backups/${backup.id}`, { labels: {} })).body).toMatchObject({ data: { labels: {} } });
  expect((await other.api.get("/backups?label=env:production")).meta?.total).toBe(0);
});

test.each([
  [{ Env: "a" }, "labels.Env", "is not a valid label key"],
  [{ "": "a" }, "labels.", "is not a valid label key"],
  [{ ["a".repeat(64)]: "a" }, `labels.${"a".repeat(64)}`, "is not a valid label key"],
  [{ env: "a".repeat(64) }, "labels.env", "must have at most 63 characters"],
  [{ env: 1 }, "labels.env", "must be a string"],
  [{ env: "a\u0000" }, "labels.env", "must contain only printable characters"],
  [Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, ""])), "labels", "must have at most 16 labels; remove some"],
  [["env"], "labels", "must be an object"],
  [Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`k${i}`, "🎉".repeat(51)])), "labels", "must have at most 1024 bytes"],
])("invalid labels %# are named", async (labels, field, reason) => {
  const response = await me.api.put(`/servers/${(await seedServer(me.id)).id}`, { labels });
  expect(response.status).toBe(422);
  expect(response.error?.details).toMatchObject({ field });
  expect(String(response.error?.details?.["reason"])).toContain(reason);
});

describe("events", () => {
  test("are found by type, actor, resource and time, together", async () => {
    const other = await account();
    const [one, two] = [await other.token(), await other.token()];
    const { id } = await seedServer(other.id);
    await one.api.put(`/servers/${id}`, { labels: { a: "1" } });
    await two.api.put(`/servers/${id}`, { labels: { a: "2" } });
    await two.api.put("/settings", { account_name: "New" });
    const total = async (query: string) => (await other.api.get(`/events?${query}`)).meta?.total;
    expect(await total("type=server.update")).toBe(2);
    expect(await total(`actor=${two.id}`)).toBe(2);
    expect(await total(`actor=${two.id}&type=server.update`)).toBe(1);
    expect(await total(`resource_id=${id}`)).toBe(2);
    expect(await total(`resource_id=${id}&actor=${one.id}`)).toBe(1);
    expect(await total("type=server.update&created_after=2026-01-01")).toBe(2);
    expect(await total("type=server.update&created_before=2026-01-01")).toBe(0);
    expect(await total("type=no.such")).toBe(0);
  });
});

describe("dates in a long list", () => {
  let long: TestAccount;
  const at = (i: number): string => new Date(Date.parse("2026-11-01T00:00:00.000Z") + i * 60_000).toISOString();
  beforeAll(async () => {
    long = await account();
    const instance = await seedInstance(long.id);
    for (let i = 0; i < MANY; i++) await seedBackup(instance, { created_at: at(i), note: `number ${i}` });
  });

  test.each([
    [100, undefined],
    [undefined, 250],
    [33, 300],
    [31, 32],
    [64, 290],
    [400, undefined],
    [undefined, 0],
  ])("from %s to %s", async (after, before) => {
    const { api } = await long.token();
    const [first, end] = [after ?? 0, Math.max(0, Math.min(before ?? MANY, MANY))];
    const expected = Array.from({ length: Math.max(0, end - first) }, (_, i) => `number ${first + i}`);
    const query = [
      ...(after === undefined ? [] : [`created_after=${at(after)}`]),
      ...(before === undefined ? [] : [`created_before=${at(before)}`]),
    ].join("&");
    for (const order of ["asc", "desc"]) {
      const notes: (string | null)[] = [];
      const path = `/backups?${query}&order=${order}&per_page=70`;
      for (let page = 1; page <= 5; page++) {
        const response = await api.get(`${path}&page=${page}`);
        expect(response.meta?.total).toBe(expected.length);
        notes.push(...response.as(z.array(z.looseObject({ note: z.string().nullable() }))).map(({ note }) => note));
      }
      expect(notes).toEqual(order === "asc" ? expected : expected.toReversed());
      if (expected.length <= 70) continue;
      const second = await api.get(`${path}&cursor=${(await api.get(path)).meta?.next_cursor ?? ""}`);
      expect(second.meta?.total).toBe(expected.length);
      expect(second.as(z.array(z.looseObject({ note: z.string().nullable() })))[0]?.note).toBe(notes[70]);
    }
  });
});

test("records from before there were entries and overviews are found after the first migration", async () => {
  const old = await account();
  const instance = await seedInstance(old.id, { name: "Old shop", labels: { env: "old" } });
  const backup = await seedBackup(instance, { note: "old note" });
  await old.api.put("/settings", { account_name: "Old" });
  const read = () =>
    Promise.all([
      old.api.get("/instances?label=env:old"),
      old.api.get("/backups?search=old"),
      old.api.get(`/events?actor=${old.tokenId}`),
    ]);
  const caller = {
    account_id: old.id,
    type: "user",
    id: old.user.id,
    permissions: [...ALL_PERMISSIONS],
    ip_address: null,
  } as const;
  const before = (await read()).map(({ meta }) => meta?.total);
  const { revision: _, revisions: _1, ...overview } = await overviewFor({ ...caller, permissions: [...ALL_PERMISSIONS] });

  for (const kind of ["server", "instance", "backup"] as const)
    for (const item of await queryAll(keys.entries(kind, old.id)))
      await removeOne({ pk: String(item["pk"]), sk: String(item["sk"]) });
  await removeOne(keys.overview(old.id));
  for (const event of await queryAll(keys.list("event", old.id)))
    await updateRaw(
      { pk: String(event["pk"]), sk: String(event["sk"]) },
      {
        UpdateExpression: "SET #was = :old REMOVE list_status, list_parent, list_protection",
        ExpressionAttributeNames: { "#was": "was" },
        ExpressionAttributeValues: { ":old": true },
      },
    );
  for (const count of await queryAll(keys.counts("event", old.id)))
    if (!String(count["sk"]).startsWith("all")) await removeOne({ pk: String(count["pk"]), sk: String(count["sk"]) });
  expect((await read()).map(({ meta }) => meta?.total)).toEqual([0, 0, 0]);
  expect((await old.api.get("/instances")).meta?.total).toBe(1);

  // A change before the migration writes its own fields only, and the migration does not take them back.
  const change = startChange({ id: old.id });
  editBackup(change, await getBackup(old.id, backup.id), { note: "older note" });
  await change.commit();
  await indexed(old.id);
  await indexed(old.id);
  expect((await read()).map(({ meta }) => meta?.total)).toEqual(before);
  expect((await old.api.get("/backups?search=older")).meta?.total).toBe(1);
  const { revision: __, revisions: _2, ...after } = await overviewFor({ ...caller, permissions: [...ALL_PERMISSIONS] });
  expect(after).toEqual(overview);
});

test("labels that another version wrote into the entries, or changed there, are right, and stay right after the first migration", async () => {
  const old = await account();
  const server = await seedServer(old.id);
  const [before, between, moved] = await Promise.all(
    ["before", "between", "moved"].map((name) =>
      seedInstance(old.id, { server_id: server.id, name, labels: { env: "production" } }),
    ),
  );
  const asOldVersion = async (id: string, labels: Record<string, string>) => {
    const packed = Object.entries(labels).map(([key, value]) => `${key}:${value}`);
    const set = (key: Key, update: Update) => updateOne(key, update, {});
    await set(keys.record("instance", old.id, id), { set: { labels } });
    await set(keys.entry("instance", old.id, id), packed.length === 0 ? { remove: ["l"] } : { set: { l: packed.join("\n") } });
  };
  const readNames = async () => ({
    production: await names("/instances?label=env:production&sort=name", old.api),
    staging: await names("/instances?label=env:staging&sort=name", old.api),
  });
  // One from before there were items for labels, one that the old version changed during a deployment.
  for (const member of await readMembers("instance", old.id))
    if (ownerString(member) === ownerString({ id: before?.id ?? "" })) await transact([takeMember(member)]);
  await asOldVersion(before?.id ?? "", { env: "production" });
  await asOldVersion(between?.id ?? "", { env: "staging" });
  const right = { production: ["before", "moved"], staging: ["between"] };
  expect(await readNames()).toEqual(right);
  // One whose last label it removed, of which its entry says nothing.
  await asOldVersion(moved?.id ?? "", {});
  await indexed(old.id);
  expect(await readNames()).toEqual({ ...right, production: ["before"] });
  await old.api.put(`/instances/${between?.id}`, { labels: { env: "production" } });
  expect(await readNames()).toEqual({ production: ["before", "between"], staging: [] });
  await indexed(old.id);
  expect(await readNames()).toEqual({ production: ["before", "between"], staging: [] });
});

test("of labels that many set at once, those that a record has are those by which it is found", async () => {
  const other = await account();
  const { id } = await seedServer(other.id);
  const values = Array.from({ length: 8 }, (_, i) => `v${i}`);
  const responses = await Promise.all(values.map((env) => other.api.put(`/servers/${id}`, { labels: { env } })));
  expect(responses.map(({ status }) => status)).toEqual(values.map(() => 200));
  const { labels } = (await other.api.get(`/servers/${id}`)).as(z.looseObject({ labels: z.object({ env: z.string() }) }));
  const totals = await Promise.all(values.map(async (env) => (await other.api.get(`/servers?label=env:${env}`)).meta?.total));
  expect(totals).toEqual(values.map((env) => (env === labels.env ? 1 : 0)));
});

test("a list's search finds an ID", async () => {
  const [{ id }] = (await me.api.get("/instances?search=creme")).as(z.tuple([Named]));
  expect(await names(`/instances?search=${id}`)).toEqual(["Crème Brûlée"]);
  expect(await names(`/instances?search=${id.toUpperCase()}&label=env:staging`)).toEqual([]);
});

describe("records by their IDs", () => {
  const idsOf = async (path: string): Promise<string[]> =>
    (await me.api.get(path)).as(z.array(z.looseObject({ id: z.string() }))).map(({ id }) => id);

  test("are those that exist, newest first, each once, whatever their order in the query", async () => {
    const all = await idsOf("/instances");
    const ids = [all[2], "ins_01kag8w1s2e7tv8q4m5n6p7r8s", all[0], all[2]];
    const response = await me.api.get(`/instances?ids=${ids.join(",")}`);
    expect(response.as(z.array(Named)).map(({ id }) => id)).toEqual([all[0], all[2]]);
    expect(response.meta).toEqual({ page: 1, per_page: 100, total: 2, next_cursor: null });
  });

  test("are another account's never", async () => {
    const [id = ""] = await idsOf("/instances");
    const other = await account({ seeded: true });
    expect((await other.api.get(`/instances?ids=${id}`)).as(z.array(Named))).toEqual([]);
  });

  test.each(["servers", "operations", "ssh-keys"])("work for /%s", async (kind) => {
    const all = await idsOf(`/${kind}`);
    expect(await idsOf(`/${kind}?ids=${all.slice(0, 2).join(",") || "none"}`.replace("?ids=none", ""))).toEqual(all.slice(0, 2));
  });

  test("are an instance's own in its list of backups", async () => {
    const [server_id = ""] = await idsOf("/servers");
    const [one, other] = [await seedInstance(me.id, { server_id }), await seedInstance(me.id, { server_id })];
    const [backup, foreign] = [await seedBackup(one), await seedBackup(other)];
    const query = `?ids=${backup.id},${foreign.id}`;
    expect((await idsOf(`/backups${query}`)).toSorted()).toEqual([backup.id, foreign.id].toSorted());
    expect(await idsOf(`/instances/${one.id}/backups${query}`)).toEqual([backup.id]);
  });

  test("are named alone, in their form, and at most a hundred", async () => {
    const [id = ""] = await idsOf("/instances");
    for (const query of [
      `ids=${id}&status=running`,
      `ids=${id}&page=1`,
      `ids=${id}&per_page=5`,
      "ids=",
      `ids=${id},`,
      "ids=srv_01kag8w1s2e7tv8q4m5n6p7r8s",
      `ids=${Array.from({ length: 101 }, () => id).join(",")}`,
    ]) {
      const response = await me.api.get(`/instances?${query}`);
      expect(response.error, query).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "ids" } });
    }
  });
});
