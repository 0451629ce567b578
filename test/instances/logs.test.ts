// GET /instances/:id/logs
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Event } from "../../shared/api/events.ts";
import { withinLogLimits } from "../../shared/operations/monitoring/log-reads.ts";
import { account, type TestAccount, uniqueDomain, unusedId } from "../harness/account.ts";
import { warmLogs } from "../harness/logs.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
  await warmLogs(me);
});

const Log = z.object({
  lines: z.array(
    z.object({ at: z.iso.datetime(), level: z.string().nullable(), logger: z.string().nullable(), message: z.string() }),
  ),
  truncated: z.boolean(),
  next: z.string(),
});

test("the log has the ERP's messages, oldest first, with the traceback in the message of its error", async () => {
  const { id } = await me.instance({ domain: `fail-boot.${uniqueDomain()}` });
  const { lines, truncated } = (await me.api.get(`/instances/${id}/logs`)).as(Log);
  expect(lines.map(({ at }) => at)).toEqual(lines.map(({ at }) => at).toSorted());
  expect(lines[0]).toMatchObject({ level: "info", logger: "odoo", message: "Odoo version 19.0" });
  const { message } = lines.find(({ level }) => level === "error") ?? {};
  expect(message).toMatch(
    /^Failed to load registry\nTraceback \(most recent call last\):\n {2}File ".*\nKeyError: 'ir.model.data'$/s,
  );
  expect(truncated).toBe(false);
  const last = (await me.api.get(`/instances/${id}/logs?lines=2`)).as(Log);
  expect(last).toEqual({ lines: lines.slice(-2), truncated: true, next: expect.any(String) });
});

test("a log is narrowed by time, level and text", async () => {
  const { id } = await me.instance({ domain: `fail-boot.${uniqueDomain()}` });
  const read = async (query: string) => (await me.api.get(`/instances/${id}/logs?${query}`)).as(Log).lines;
  const all = await read("");
  const failed = all.filter(({ level }) => level === "error");
  expect(failed).toHaveLength(1);
  expect(await read("level=error")).toEqual(failed);
  expect(await read("search=keyERROR")).toEqual(failed);
  expect(await read("search=.*")).toEqual([]);
  const at = failed[0]?.at ?? "";
  expect(await read(`since=${at}`)).toEqual(all.slice(all.findIndex((line) => line.at === at)));
  expect(await read(`until=${at}`)).toEqual(
    all.slice(
      0,
      all.findIndex((line) => line.at === at),
    ),
  );
  expect((await me.api.get(`/instances/${id}/logs?search=${"x".repeat(201)}`)).status).toBe(422);
});

test("the logs of the database and the proxy can be read, the one only by who may restore backups", async () => {
  const { id } = await me.instance({ domain: `fail-boot.${uniqueDomain()}` });
  const read = async (source: string, api = me.api) => api.get(`/instances/${id}/logs?source=${source}`);
  const database = (await read("database")).as(Log).lines;
  expect(database.find(({ level }) => level === "error")?.message).toMatch(/^column .*\nSTATEMENT: SELECT/s);
  const { api } = await me.token(["instances:read"]);
  expect((await read("database", api)).status).toBe(403);
  expect((await read("proxy", api)).status).toBe(200);
});

test("a log is followed from where the last response ended", async () => {
  const { id } = await me.instance({ domain: `fail-boot.${uniqueDomain()}` });
  const read = async (query: string) => (await me.api.get(`/instances/${id}/logs?${query}`)).as(Log);
  const fullLog = await read("");
  const { lines, next, truncated } = await read("lines=2&until=2020-01-01");
  expect([lines, truncated]).toEqual([[], false]);
  expect(next).toMatch(/Z\.0$/);
  const [first] = fullLog.lines;
  const behind = await read(`after=${first?.at}.1&lines=2`);
  expect(behind.lines).toEqual(fullLog.lines.slice(1, 3));
  // It goes on meanwhile.
  const rest = await read(`after=${behind.next}`);
  expect([...fullLog.lines.slice(0, 3), ...rest.lines].slice(0, fullLog.lines.length)).toEqual(fullLog.lines);
  const later = await read(`after=${rest.next}&follow=1`);
  expect([later.truncated, later.lines.filter(({ at }) => at <= (rest.lines.at(-1)?.at ?? ""))]).toEqual([false, []]);
});

test("reading is noted once an hour for each credential", async () => {
  const { id } = await me.instance();
  const tokens = [await me.token(), await me.token()];
  for (const { api } of [...tokens, ...tokens]) expect((await api.get(`/instances/${id}/logs?lines=1`)).status).toBe(200);
  await Promise.all([1, 2].map(() => me.api.get(`/instances/${id}/logs?lines=1`)));
  const events = (await me.api.get(`/events?type=instance.logs_read&resource_id=${id}`)).as(Event.array());
  expect(new Set(events.map(({ actor }) => actor.id)).size).toBe(3);
  expect(events).toHaveLength(3);
});

test("an instance's log can be read ten times a minute, whoever reads it", async () => {
  const { id } = await me.instance();
  const { api } = await me.token();
  for (let count = 0; count < 10; count++) expect((await api.get(`/instances/${id}/logs?lines=1`)).status).toBe(200);
  const { status, error, headers } = await me.api.get(`/instances/${id}/logs`);
  expect(status).toBe(429);
  expect(error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", details: { scope: "logs", limit: 10, window_seconds: 60 } });
  expect(Number(headers["retry-after"])).toBeGreaterThan(0);
});

test("an instance's log is read twice at a time at most", async () => {
  const of = { account_id: me.id, id: unusedId("instance") };
  const { promise: enough, resolve: end } = Promise.withResolvers<void>();
  const starts: Promise<void>[] = [];
  const readings = [1, 2].map(() => {
    const { promise, resolve } = Promise.withResolvers<void>();
    starts.push(promise);
    return withinLogLimits(of, () => {
      resolve();
      return enough;
    });
  });
  await Promise.all(starts);
  const third = () => withinLogLimits(of, () => Promise.resolve("read"));
  await expect(third()).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED", details: { scope: "logs", limit: 2 } });
  end();
  await Promise.all(readings);
  expect(await third()).toBe("read");
});

test("a server that is not active, an ERP that is not installed, and a machine that is gone have no log", async () => {
  const offline = await seedServer(me.id, { state: "unreachable" });
  const on = await seedInstance(me.id, { server_id: offline.id });
  const bare = await seedInstance(me.id, { state: "failed", installed: false });
  const gone = await seedInstance(me.id);
  const read = async ({ id }: { id: string }) => {
    const { status, error } = await me.api.get(`/instances/${id}/logs`);
    return [status, error?.code, error?.details?.["status"]];
  };
  expect(await read(on)).toEqual([409, "INVALID_STATE", "offline"]);
  expect(await read(bare)).toEqual([409, "INVALID_STATE", "failed"]);
  expect(await read(gone)).toEqual([503, "SERVICE_UNAVAILABLE", undefined]);
});

test("who may not read instances may not read their logs, and parameters are checked", async () => {
  const { id } = await me.instance();
  const { api } = await me.token(["servers:read", "backups:read"]);
  expect((await api.get(`/instances/${id}/logs`)).status).toBe(403);
  expect((await (await account()).api.get(`/instances/${id}/logs`)).status).toBe(404);
  for (const query of [
    "lines=0",
    "lines=2001",
    "lines=x",
    "source=kernel",
    "source=../erp",
    "since=now",
    "level=all",
    "after=x",
    "follow=21",
  ])
    expect((await me.api.get(`/instances/${id}/logs?${query}`)).status, query).toBe(422);
});
