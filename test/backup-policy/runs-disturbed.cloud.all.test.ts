// Runs of backup policies while something else happens: policies set again, held instances, killed functions, an index that lags.
import { expect, test } from "vitest";
import * as z from "zod";
import { BackupPolicy } from "../../shared/api/policy-shown.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Event } from "../../shared/api/events.ts";
import { keys } from "../../shared/data/keys.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { policyRef } from "../../shared/records/policies.ts";
import { findOperation } from "../../shared/records/operations.ts";
import type { BackupRecord } from "../../shared/records/schemas/backup.ts";
import { applyRetention } from "../../shared/operations/backups/policy-runs.ts";
import { find, queryAll, updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import { holdWork } from "../harness/held-work.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";
import {
  age,
  backupsOf,
  instanceOf,
  isSchedule,
  minutesAgo,
  NIGHTLY,
  policyOf,
  put,
  scheduleOf,
  shift,
  shownOf,
} from "./policies.ts";

const cloud = await processCloud();
const { tick } = scheduleOf(cloud);

test("a policy that is set again while it makes the first backup makes no second one", async () => {
  const me = await account();
  const { id } = await me.instance();
  await put(me, id);
  const release = holdWork(cloud);
  await cloud.events.fire("runpolicies");
  await put(me, id);
  await put(me, id, { ...NIGHTLY, schedule: "0 3 * * *" });
  release();
  await cloud.states.settled();
  await tick();
  await tick();
  expect(shownOf(await backupsOf(me, id))).toEqual(["scheduled completed"]);
});

test.each(["turned off and on", "deleted and set"])(
  "a policy that is %s again during its first run makes no second backup",
  async (way) => {
    const me = await account();
    const { id } = await me.instance();
    await put(me, id);
    const release = holdWork(cloud);
    await cloud.events.fire("runpolicies");
    if (way === "turned off and on") await put(me, id, { ...NIGHTLY, enabled: false });
    else await me.api.delete(`/instances/${id}/backup-policy`);
    const { next_run_at } = await put(me, id);
    expect(next_run_at).toMatch(/T02:00:00\.000Z$/);
    release();
    await cloud.states.settled();
    await tick();
    await tick();
    expect(shownOf(await backupsOf(me, id))).toEqual(["scheduled completed"]);
  },
);

test("a policy of an instance that was never installed is not due, whenever it was set", async () => {
  const me = await account();
  await me.api.put("/settings", { default_backup_policy: NIGHTLY });
  const body = { ...(await me.instanceBody()), domain: `fail-install.${uniqueDomain()}` };
  const { id, operation_id } = (await me.api.post("/instances", body)).as(Instance);
  await me.until(operation_id, "failed");
  expect(await instanceOf(me, id)).toMatchObject({ status: "failed" });
  await tick();
  const never = { next_run_at: null, next_runs: [], last_run: null };
  expect((await me.api.get(`/instances/${id}/backup-policy`)).as(BackupPolicy)).toMatchObject(never);
  expect((await instanceOf(me, id)).protection).toEqual({ status: "unprotected", last_backup_at: null, next_backup_at: null });
  expect(await put(me, id, { ...NIGHTLY, drill_every_days: 1 })).toMatchObject(never);
  await tick();
  expect(await backupsOf(me, id)).toEqual([]);
  const rehearsed = (await me.api.put(`/instances/${id}/backup-policy?dry_run=true`, NIGHTLY)).as(DryRun);
  expect(rehearsed).toMatchObject({ next_runs: [], warnings: [expect.stringContaining("never installed")] });
  const events = (await me.api.get(`/events?resource_id=${id}`)).as(z.array(Event)).map(({ type }) => type);
  expect(events).not.toContain("backup_policy.run_skipped");
});

test("a waiting backup is gone with its policy, which is an event", async () => {
  const me = await account();
  const server = await me.server();
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push((await me.instance({ server_id: server.id })).id);
  for (const id of ids) await put(me, id);
  const release = holdWork(cloud);
  await cloud.events.fire("runpolicies");
  const all = await Promise.all(ids.map(async (id) => ({ id, backups: await backupsOf(me, id) })));
  const waiting = all.find(({ backups }) => backups[0]?.operation_id === null);
  expect((await me.api.delete(`/instances/${waiting?.id}/backup-policy`)).status).toBe(200);
  expect(await backupsOf(me, waiting?.id ?? "")).toEqual([]);
  const events = (await me.api.get(`/events?resource_id=${waiting?.backups[0]?.id}`)).as(z.array(Event));
  expect(events.map(({ type }) => type)).toEqual(["backup.delete"]);
  expect((await me.api.get(`/instances/${waiting?.id}/backup-policy`)).status).toBe(404);
  release();
  await cloud.states.settled();
});

test("a run whose instance is held is retried, and skipped after an hour", async () => {
  const me = await account();
  const { id } = await me.instance();
  const release = holdWork(cloud);
  await me.api.post(`/instances/${id}/actions`, { action: "restart" });
  await put(me, id);
  await cloud.events.fire("runpolicies");
  expect(await backupsOf(me, id)).toEqual([]);
  const { due } = await policyOf(me, id);
  expect(due?.held_since).toEqual(expect.any(String));
  await shift(me, id, { due: due && { ...due, held_since: minutesAgo(61) } });
  await cloud.events.fire("runpolicies");
  const { last_run } = (await me.api.get(`/instances/${id}/backup-policy`)).as(BackupPolicy);
  expect(last_run).toMatchObject({ status: "skipped", backup_id: null, reason: expect.stringContaining("operation") });
  release();
  await cloud.states.settled();
  expect(await backupsOf(me, id)).toEqual([]);
});

test("what one run of the schedule function begins is numbered in the order in which it is begun", async () => {
  const me = await account({ seeded: true });
  const instance = await getInstance(me.id, (await me.instance()).id);
  await put(me, instance.id);
  await tick();
  await tick();
  for (const days of [3, 4, 5]) {
    const due_at = minutesAgo(days * 24 * 60);
    await seedBackup(instance, { kind: "scheduled", due_at, created_at: due_at });
  }
  await shift(me, instance.id, { retain: true });
  await tick();
  const deletions = (await me.api.get("/operations?per_page=100"))
    .as(z.array(Operation))
    .filter(({ type }) => type === "backup.delete");
  expect(deletions).toHaveLength(3);
  const records = await Promise.all(deletions.map(({ id }) => findOperation(me.id, id)));
  expect(new Set(records.map((record) => record?.number.split("#")[0])).size).toBe(3);
});

test.each([
  ["a scheduled backup", { kind: "scheduled" }],
  ["a manual backup", { kind: "manual" }],
  ["a backup whose archive is corrupt", { kind: "scheduled", state: "failed" }],
] as const)("retention keeps the last backup that a drill has proven, once the drill of %s has failed", async (_, fields) => {
  const me = await account({ seeded: true });
  const instance = await seedInstance(me.id);
  const drilled = (status: "passed" | "failed") => ({ status, at: minutesAgo(1), checks: [] });
  const seedOldBackup = (days: number, drill: BackupRecord["drill"], of: Partial<BackupRecord> = { kind: "scheduled" }) =>
    seedBackup(instance, { due_at: minutesAgo(days * 24 * 60), drill, ...of });
  const [older, proven, failed, undrilled] = [
    await seedOldBackup(4, drilled("passed")),
    await seedOldBackup(3, drilled("passed")),
    await seedOldBackup(2, drilled("failed"), fields),
    await seedOldBackup(1, null),
  ];
  const removable = async () => {
    const response = await me.api.put(`/instances/${instance.id}/backup-policy?dry_run=true`, NIGHTLY);
    const deletions = response.as(DryRun).effects.filter(({ action }) => action === "delete");
    return deletions.map(({ resource }) => resource.id);
  };
  expect(await removable(), "the failed one says that the proven one is needed").toEqual([older.id, undrilled.id]);
  await updateOne(keys.record("backup", me.id, undrilled.id), { set: { drill: drilled("passed") } }, {});
  const failedIds = failed.kind === "scheduled" && failed.state === "completed" ? [failed.id] : [];
  expect(await removable()).toEqual([older.id, proven.id, ...failedIds, undrilled.id]);
});

test.each([
  ["its archive has turned out to be corrupt since", { state: "failed" }],
  ["it expires", { kind: "pre_restore", expires_at: minutesAgo(-60) }],
] as const)("a backup that a drill has proven is not the last one that restores if %s", async (_, fields) => {
  const me = await account({ seeded: true });
  const instance = await seedInstance(me.id);
  const seedOldBackup = (days: number, status: "passed" | "failed", of: Partial<BackupRecord> = {}) =>
    seedBackup(instance, {
      kind: "scheduled",
      due_at: minutesAgo(days * 24 * 60),
      drill: { status, at: minutesAgo(1), checks: [] },
      ...of,
    });
  const proven = await seedOldBackup(3, "passed");
  await seedOldBackup(2, "passed", fields);
  await seedOldBackup(1, "failed");
  const response = await me.api.put(`/instances/${instance.id}/backup-policy?dry_run=true`, NIGHTLY);
  expect(response.as(DryRun).effects.map(({ resource }) => resource.id)).not.toContain(proven.id);
});

test("retention removes nothing if the newest backup fails a drill meanwhile", async () => {
  const me = await account({ seeded: true });
  const instance = await seedInstance(me.id);
  await me.api.put(`/instances/${instance.id}/backup-policy`, NIGHTLY);
  await seedBackup(instance, { kind: "scheduled", due_at: minutesAgo(600) });
  const newest = await seedBackup(instance, { kind: "scheduled", due_at: minutesAgo(60) });
  const fail = async (): Promise<void> =>
    void (await updateOne(
      keys.record("backup", me.id, newest.id),
      { set: { drill: { status: "failed", at: minutesAgo(0), checks: [] } } },
      {},
    ));
  const policy = await policyOf(me, instance.id);
  await expect(applyRetention({ instance, policy }, fail, () => Promise.resolve())).rejects.toThrow("A condition failed");
  expect(await backupsOf(me, instance.id)).toMatchObject([{ status: "completed" }, { status: "completed" }]);
});

const sweepAll = async (me: TestAccount): Promise<void> => {
  for (const open of await queryAll(keys.open(), { consistent: true }))
    if (open["account_id"] === me.id)
      await updateOne({ pk: String(open["pk"]), sk: String(open["sk"]) }, { set: { created_at: minutesAgo(10) } }, {});
  await cloud.events.fire("sweep");
  await cloud.states.settled();
};

test("a schedule function that is killed after any of its calls makes one backup of the run, and one removal", async () => {
  const me = await account();
  const { id } = await me.instance();
  await put(me, id);
  await tick();
  await tick();
  for (let kill = 1; ; kill++) {
    const [before] = await backupsOf(me, id);
    await age(me, String(before?.id), minutesAgo(600));
    await shift(me, id, { next_run_at: minutesAgo(20) });
    let calls = 0;
    const stop = cloud.aws.calls.subscribe(({ principal }) => {
      if (!isSchedule(principal) || ++calls !== kill) return;
      cloud.aws.outage("dynamodb", "refuse");
      cloud.aws.outage("states", "refuse");
    });
    await cloud.events.fire("runpolicies").catch(() => undefined);
    stop();
    cloud.aws.outage("dynamodb", false);
    cloud.aws.outage("states", false);
    await sweepAll(me);
    await tick();
    await tick();
    await sweepAll(me);
    await tick();
    const after = await backupsOf(me, id);
    expect(shownOf(after), `killed after call ${kill}`).toEqual(["scheduled completed"]);
    expect(after[0]?.id, `killed after call ${kill}`).not.toBe(before?.id);
    if (calls < kill) break;
  }
});

test("an index that lags behind starts no second backup", async () => {
  const me = await account();
  const { id } = await me.instance();
  await put(me, id);
  const release = await cloud.aws.holdIndexes();
  await tick();
  await tick();
  await release();
  await tick();
  expect(shownOf(await backupsOf(me, id))).toEqual(["scheduled completed"]);
});

test("with nothing due, the schedule function reads five times and writes nothing", async () => {
  const me = await account();
  const { id } = await me.instance();
  await put(me, id);
  for (let i = 0; i < 4; i++) await tick();
  cloud.aws.calls.clear();
  await cloud.events.fire("runpolicies");
  const calls = cloud.aws.calls.list().filter(({ principal }) => isSchedule(principal));
  expect(calls.map(({ action }) => action)).toEqual(Array.from({ length: 5 }, () => "Query"));
});

test("a policy's run costs at most one write and one start more than a person's backup", async () => {
  const me = await account();
  const { id } = await me.instance();
  const count = async (make: () => Promise<void>) => {
    cloud.aws.calls.clear();
    await make();
    const actions = cloud.aws.calls.list().map(({ action }) => action);
    return {
      writes: actions.filter((action) => /^(?:TransactWrite|Update|Put|Delete)/.test(action)).length,
      starts: actions.filter((action) => action === "StartExecution").length,
    };
  };
  const { api } = await me.token();
  const manual = await count(async () => {
    await api.post(`/instances/${id}/backups`, {});
    await cloud.states.settled();
  });
  await put(me, id, { schedule: "0 2 * * *", keep: { last: 3 } });
  await shift(me, id, { next_run_at: minutesAgo(20) });
  const scheduled = await count(async () => {
    await tick();
    await tick();
  });
  // A person's request also writes the credential's counters.
  expect(scheduled.writes).toBeLessThanOrEqual(manual.writes + 1);
  expect(scheduled.starts).toBeLessThanOrEqual(manual.starts + 1);
});

test("two schedule functions at once make one backup of a due run", async () => {
  const me = await account();
  const { id } = await me.instance();
  await put(me, id);
  await Promise.all(Array.from({ length: 4 }, () => cloud.events.fire("runpolicies")));
  await cloud.states.settled();
  expect(shownOf(await backupsOf(me, id))).toEqual(["scheduled completed"]);
});

test("two scheduled backups run on a server at a time; the others are pending, and follow", async () => {
  const me = await account();
  const server = await me.server();
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) ids.push((await me.instance({ server_id: server.id })).id);
  for (const id of ids) await put(me, id);
  const release = holdWork(cloud);
  await cloud.events.fire("runpolicies");
  await cloud.events.fire("runpolicies");
  const waiting = (await Promise.all(ids.map((id) => backupsOf(me, id)))).flat();
  expect(waiting.filter(({ operation_id }) => operation_id !== null)).toHaveLength(2);
  expect(waiting).toHaveLength(4);
  expect(shownOf(waiting)).toEqual(ids.map(() => "scheduled pending"));
  release();
  await cloud.states.settled();
  await tick();
  expect(shownOf((await Promise.all(ids.map((id) => backupsOf(me, id)))).flat())).toEqual(ids.map(() => "scheduled completed"));
});

test("a policy drills the newest completed backup when a drill is due, once however many schedule functions run", async () => {
  const me = await account();
  const { id } = await me.instance();
  await me.api.put(`/instances/${id}/backup-policy`, { ...NIGHTLY, drill_every_days: 7 });
  await tick(); // there is no backup to drill yet
  const drills = async () =>
    (await me.api.get(`/operations?resource_id=${id}`)).as(z.array(Operation)).filter(({ type }) => type === "backup.drill");
  expect(await drills()).toEqual([]);
  await shift(me, id, { drill_at: minutesAgo(1) });
  await Promise.all([tick(), tick(), tick()]);
  const [first, ...others] = await drills();
  expect(others).toEqual([]);
  expect(first).toMatchObject({ status: "succeeded", created_by: { type: "schedule" } });
  const [backup] = await backupsOf(me, id);
  expect(backup?.drill?.status).toBe("passed");
  await tick();
  expect(await drills()).toHaveLength(1);
  await shift(me, id, { drill_at: minutesAgo(1) });
  await tick();
  expect(await drills()).toHaveLength(2);
  // Another schedule does not bring the next drill forward.
  await me.api.put(`/instances/${id}/backup-policy`, { ...NIGHTLY, schedule: "0 3 * * *", drill_every_days: 7 });
  await tick();
  expect(await drills()).toHaveLength(2);
});

test("deleting the instance deletes its policy; new instances get the default one, neutralized clones do not", async () => {
  const me = await account();
  await me.api.put("/settings", { default_backup_policy: NIGHTLY });
  const instance = await me.instance();
  expect((await me.api.get(`/instances/${instance.id}/backup-policy`)).as(BackupPolicy)).toMatchObject(NIGHTLY);
  await tick();
  const [backup] = await backupsOf(me, instance.id);
  const clone = (
    await me.api.post(`/instances/${instance.id}/clone`, { name: "Copy", domain: uniqueDomain(), backup_id: backup?.id })
  ).as(Instance);
  expect((await me.api.get(`/instances/${clone.id}/backup-policy`)).status).toBe(404);
  await cloud.states.settled();
  expect((await me.api.delete(`/instances/${instance.id}`)).status).toBe(202);
  await cloud.states.settled();
  expect(await find(policyRef(me.id, instance.id))).toBeUndefined();
  await tick();
});
