// Runs of backup policies: the schedule makes them, their retention removes backups, and whatever happens a due run is made once.
import { expect, test } from "vitest";
import * as z from "zod";
import { AwsFault } from "../../infra/local/errors.ts";
import { BackupPolicy } from "../../shared/api/backup-policy.ts";
import { Backup } from "../../shared/api/backups.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { keys } from "../../shared/data/keys.ts";
import { getInstance } from "../../shared/data/instances.ts";
import { findOperation } from "../../shared/data/operations.ts";
import { policyRef, savePolicy } from "../../shared/data/policies.ts";
import { changeOf } from "../../shared/data/change.ts";
import type { PolicyRecord } from "../../shared/data/records.ts";
import { find, queryAll, updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import { holdWork } from "../harness/held-work.ts";
import { seedBackup } from "../harness/seed.ts";

const cloud = await processCloud();
const tick = async (): Promise<void> => {
  await cloud.events.fire("runpolicies");
  await cloud.states.settled();
};

async function policyOf(me: TestAccount, instanceId: string): Promise<PolicyRecord> {
  const policy = await find(policyRef(me.id, instanceId));
  if (policy === undefined) throw new Error("There is no policy");
  return policy;
}

/** Changes a policy as time would: `fields` are what it would be then. */
async function shift(me: TestAccount, instanceId: string, fields: Partial<PolicyRecord>): Promise<void> {
  const policy = await policyOf(me, instanceId);
  const change = changeOf({ id: me.id });
  savePolicy(change, policy, { ...policy, ...fields });
  await change.commit();
}

/** Makes a scheduled backup older. */
const age = async (me: TestAccount, id: string, due_at: string): Promise<void> =>
  void (await updateOne(keys.record("backup", me.id, id), { set: { due_at, created_at: due_at } }, {}));

const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
const backupsOf = async (me: TestAccount, instanceId: string): Promise<Backup[]> =>
  (await me.api.get(`/instances/${instanceId}/backups`)).as(z.array(Backup));
const instanceOf = async (me: TestAccount, id: string): Promise<Instance> => (await me.api.get(`/instances/${id}`)).as(Instance);

/** The instance's last backup was begun days ago; returns when. */
async function lastBegunLongAgo(me: TestAccount, instanceId: string): Promise<string> {
  const long = minutesAgo(5 * 24 * 60);
  await updateOne(keys.record("instance", me.id, instanceId), { set: { last_backup_begun_at: long } }, {});
  return long;
}

const isSchedule = (principal: string): boolean => /runpolicies/i.test(principal);
/** A line arrives from the function's thread, which may be later than its response. */
const logOfSchedule = (): readonly string[] =>
  cloud.lambda.logs(cloud.template.functions.find(({ name }) => isSchedule(name))?.name ?? "");

const NIGHTLY = { schedule: "0 2 * * *", keep: { last: 1 } };

test("a policy makes its first backup at once, the next ones when they are due, and retention removes the oldest", async () => {
  const me = await account();
  const instance = await me.instance();
  const policy = (await me.api.put(`/instances/${instance.id}/backup-policy`, NIGHTLY)).as(BackupPolicy);
  expect(policy).toMatchObject({ ...NIGHTLY, timezone: "UTC", drill_every_days: null, enabled: true, last_run: null });
  expect(policy.next_run_at).toMatch(/T02:00:00\.000Z$/);
  await tick();
  const [first] = await backupsOf(me, instance.id);
  expect(first).toMatchObject({ kind: "scheduled", status: "completed" });
  expect((await instanceOf(me, instance.id)).protection).toEqual({
    status: "protected",
    last_backup_at: first?.completed_at,
    next_backup_at: policy.next_run_at,
  });
  await tick();
  expect((await backupsOf(me, instance.id)).map(({ retained_by }) => retained_by)).toEqual([["last"]]);
  await age(me, String(first?.id), minutesAgo(60));
  await shift(me, instance.id, { next_run_at: minutesAgo(20) });
  await tick();
  await tick();
  const left = await backupsOf(me, instance.id);
  expect(left.map(({ kind, status, retained_by }) => ({ kind, status, retained_by }))).toEqual([
    { kind: "scheduled", status: "completed", retained_by: ["last"] },
  ]);
  expect(left[0]?.id).not.toBe(first?.id);
  const { last_run } = (await me.api.get(`/instances/${instance.id}/backup-policy`)).as(BackupPolicy);
  expect(last_run).toMatchObject({ status: "completed", backup_id: left[0]?.id, reason: null });
  await tick();
  expect(await backupsOf(me, instance.id)).toHaveLength(1);
});

const put = async (me: TestAccount, id: string, body: object = NIGHTLY): Promise<BackupPolicy> =>
  (await me.api.put(`/instances/${id}/backup-policy`, body)).as(BackupPolicy);
const shownOf = (backups: readonly Backup[]) => backups.map(({ kind, status }) => `${kind} ${status}`);

test("two schedule functions at once make one backup of a due run", async () => {
  const me = await account();
  const { id } = await me.instance();
  await put(me, id);
  await Promise.all(Array.from({ length: 4 }, () => cloud.events.fire("runpolicies")));
  await cloud.states.settled();
  expect(shownOf(await backupsOf(me, id))).toEqual(["scheduled completed"]);
});

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

test("a waiting backup is gone with its policy", async () => {
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

test("after an outage there is one run, and an instance without a recent backup is overdue until it is completed", async () => {
  const me = await account();
  const { id } = await me.instance();
  await put(me, id);
  await tick();
  await tick();
  const [first] = await backupsOf(me, id);
  const long = await lastBegunLongAgo(me, id);
  await age(me, String(first?.id), long);
  await shift(me, id, { overdue_at: minutesAgo(1), since: long });
  await cloud.events.fire("runpolicies");
  expect((await instanceOf(me, id)).protection.status).toBe("overdue");
  expect((await me.api.get("/instances?protection=overdue")).meta?.total).toBe(1);
  expect((await me.api.get("/events")).text).toContain("instance.overdue");
  await shift(me, id, { next_run_at: minutesAgo(4 * 24 * 60) });
  await tick();
  await tick();
  await tick();
  expect((await instanceOf(me, id)).protection.status).toBe("protected");
  expect((await me.api.get("/instances?protection=overdue")).meta?.total).toBe(0);
  expect((await me.api.get("/instances?protection=protected")).meta?.total).toBe(1);
  expect(await backupsOf(me, id)).toHaveLength(1);
});

test("an instance whose missed run begins after an outage is not overdue meanwhile", async () => {
  const me = await account();
  const { id } = await me.instance();
  await put(me, id);
  await tick();
  await tick();
  const long = await lastBegunLongAgo(me, id);
  await shift(me, id, { overdue_at: minutesAgo(60), since: long, next_run_at: minutesAgo(4 * 24 * 60) });
  const release = holdWork(cloud);
  await cloud.events.fire("runpolicies");
  await cloud.events.fire("runpolicies");
  expect((await instanceOf(me, id)).protection.status).toBe("protected");
  release();
  await cloud.states.settled();
  await tick();
  expect((await me.api.get("/events")).text).not.toContain("instance.overdue");
});

test("an instance that becomes overdue while its run is kept shows when the next one is due", async () => {
  const me = await account();
  const { id, server_id } = await me.instance();
  await put(me, id);
  await tick();
  await tick();
  const long = await lastBegunLongAgo(me, id);
  const missed = minutesAgo(20);
  await shift(me, id, { overdue_at: minutesAgo(1), since: long, next_run_at: missed });
  await updateOne(keys.record("instance", me.id, id), { set: { next_backup_at: missed } }, {});
  await updateOne(keys.record("server", me.id, server_id), { set: { state: "unreachable" } }, {});
  await cloud.events.fire("runpolicies");
  const { next_run_at } = await policyOf(me, id);
  expect(Date.parse(next_run_at ?? "")).toBeGreaterThan(Date.now());
  expect((await instanceOf(me, id)).protection).toMatchObject({ status: "overdue", next_backup_at: next_run_at });
  await me.api.delete(`/instances/${id}/backup-policy`); // else its run is tried again during other tests
});

test("an instance becomes overdue although its retention waits for the end of a drill", async () => {
  const me = await account();
  const { id } = await me.instance();
  await put(me, id);
  await tick();
  await tick();
  const [backup] = await backupsOf(me, id);
  const release = holdWork(cloud);
  await me.api.post(`/backups/${backup?.id}/drill`, {});
  const long = await lastBegunLongAgo(me, id);
  await shift(me, id, { overdue_at: minutesAgo(1), since: long, retain: true });
  await cloud.events.fire("runpolicies");
  expect((await instanceOf(me, id)).protection.status).toBe("overdue");
  // Whoever gets the alarm reads here which instance it is.
  await expect
    .poll(logOfSchedule)
    .toContainEqual(expect.stringMatching(`"an instance is overdue".*"account":"${me.id}".*"instance":"${id}"`));
  release();
  await cloud.states.settled();
});

test("an instance that becomes overdue is reported, even if its retention cannot be applied then", async () => {
  const me = await account();
  const { id } = await me.instance();
  await put(me, id);
  await tick();
  await tick();
  const long = await lastBegunLongAgo(me, id);
  await shift(me, id, { overdue_at: minutesAgo(1), since: long, retain: true });
  let writes = 0;
  const release = cloud.aws.inject(({ principal, action }) =>
    isSchedule(principal) && action === "TransactWriteItems" && ++writes > 1
      ? { kind: "error", fault: new AwsFault("InternalServerError", "As the test asked", 500) }
      : undefined,
  );
  await cloud.events.fire("runpolicies").catch(() => undefined);
  release();
  expect(writes).toBeGreaterThan(1);
  expect((await instanceOf(me, id)).protection.status).toBe("overdue");
  await expect.poll(logOfSchedule).toContainEqual(expect.stringMatching(`"an instance is overdue".*"instance":"${id}"`));
  await tick();
  expect((await policyOf(me, id)).retain).toBe(false);
});

const alarms = (): string[] => logOfSchedule().filter((line) => line.includes('"BackupsOverdue":'));

test("an instance that becomes overdue raises the alarm at once, even if the function ends no more", async () => {
  const me = await account();
  const { id } = await me.instance();
  await put(me, id);
  await tick();
  await tick();
  const long = await lastBegunLongAgo(me, id);
  await shift(me, id, { overdue_at: minutesAgo(1), since: long, retain: true });
  const before = alarms().length;
  let writes = 0;
  const release = cloud.aws.inject(({ principal, action }) =>
    isSchedule(principal) && action === "TransactWriteItems" && ++writes > 1 ? { kind: "silent" } : undefined,
  );
  const fired = cloud.events.fire("runpolicies").catch(() => undefined);
  await expect.poll(() => writes).toBeGreaterThan(1);
  // Sooner than the write that gets no response is given up.
  await expect.poll(() => alarms().length, { timeout: 4_000 }).toBe(before + 1);
  release();
  await fired;
  await tick();
});

test("an instance whose only backup is deleted is unprotected, and nobody is alarmed that it is overdue", async () => {
  const me = await account();
  const { id } = await me.instance();
  await put(me, id);
  await tick();
  await tick();
  const [backup] = await backupsOf(me, id);
  await me.api.delete(`/backups/${backup?.id}`);
  await cloud.states.settled();
  const before = alarms();
  await tick();
  expect((await instanceOf(me, id)).protection.status).toBe("unprotected");
  expect(alarms()).toEqual(before);
});

const Task = z.looseObject({ task: z.string() });

test("an instance is not protected by a backup whose deletion failed, but by the one before it", async () => {
  const me = await account();
  const { id } = await me.instance();
  const made = [];
  for (let i = 0; i < 2; i++) {
    made.push((await me.api.post(`/instances/${id}/backups`, {})).as(Backup));
    await cloud.states.settled();
  }
  await put(me, id);
  const stop = cloud.states.intercept(async (call, next) => {
    if (Task.parse(call.payload).task !== "deleteArchive") return next(call);
    throw Object.assign(new Error("STORAGE_ERROR: The storage does not respond"), { name: "GiveUp" });
  });
  const [older, newer] = made;
  await me.until((await me.api.delete(`/backups/${newer?.id}`)).as(Operation).id, "failed");
  const { completed_at } = (await me.api.get(`/backups/${older?.id}`)).as(Backup);
  expect((await instanceOf(me, id)).protection).toMatchObject({ status: "protected", last_backup_at: completed_at });
  await me.until((await me.api.delete(`/backups/${older?.id}`)).as(Operation).id, "failed");
  expect((await instanceOf(me, id)).protection).toMatchObject({ status: "unprotected", last_backup_at: null });
  expect(shownOf(await backupsOf(me, id))).toEqual(["manual failed", "manual failed"]);
  stop();
  await me.until((await me.api.delete(`/backups/${newer?.id}`)).as(Operation).id);
  expect((await instanceOf(me, id)).protection).toMatchObject({ status: "unprotected", last_backup_at: null });
});

test("a deletion of an instance's last backup that ends while the instance is deleted, too, succeeds", async () => {
  const me = await account({ seeded: true });
  const { id } = await me.instance();
  const backup = (await me.api.post(`/instances/${id}/backups`, {})).as(Backup);
  await cloud.states.settled();
  const seen = { end: false, write: false };
  const stop = cloud.states.intercept(async (call, next) => {
    if (call.machine.endsWith("-delete-backup") && Task.parse(call.payload).task === "succeed") seen.end = true;
    return next(call);
  });
  const release = cloud.aws.inject(({ principal, action }) => {
    if (!seen.end || seen.write || action !== "TransactWriteItems" || !/deletebackup/i.test(principal)) return undefined;
    seen.write = true;
    return { kind: "slow", milliseconds: 2500 };
  });
  const deletion = (await me.api.delete(`/backups/${backup.id}`)).as(Operation);
  await expect.poll(() => seen.write).toBe(true);
  await me.until((await me.api.delete(`/instances/${id}`)).as(Operation).id);
  await me.until(deletion.id);
  stop();
  release();
  expect((await me.api.get(`/backups/${backup.id}`)).status).toBe(404);
  await cloud.states.settled();
});

test("an instance whose last backups are deleted while the index lags behind is not protected by one of them", async () => {
  const me = await account();
  const { id } = await me.instance();
  const made = [];
  for (let i = 0; i < 3; i++) {
    made.push((await me.api.post(`/instances/${id}/backups`, {})).as(Backup));
    await cloud.states.settled();
  }
  await put(me, id);
  const [oldest, ...deleted] = made;
  const release = await cloud.aws.holdIndexes();
  for (const backup of deleted) {
    await me.api.delete(`/backups/${backup.id}`);
    await cloud.states.settled();
  }
  await release();
  const { protection } = await instanceOf(me, id);
  expect(protection.last_backup_at).toBe((await me.api.get(`/backups/${oldest?.id}`)).as(Backup).completed_at);
  await me.api.delete(`/backups/${oldest?.id}`);
  await cloud.states.settled();
  expect((await instanceOf(me, id)).protection).toMatchObject({ status: "unprotected", last_backup_at: null });
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
  await me.api.delete(`/instances/${instance.id}`);
  await cloud.states.settled();
  expect(await find(policyRef(me.id, instance.id))).toBeUndefined();
  await tick();
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

test("a dry run of a policy lists the backups that its rules would remove, and removes none", async () => {
  const me = await account();
  const { id } = await me.instance();
  await me.api.put(`/instances/${id}/backup-policy`, { ...NIGHTLY, keep: { last: 5 } });
  await tick();
  const [first] = await backupsOf(me, id);
  await age(me, String(first?.id), minutesAgo(3 * 24 * 60));
  await shift(me, id, { next_run_at: minutesAgo(20) });
  await tick();
  await tick();
  const rehearsed = (await me.api.put(`/instances/${id}/backup-policy?dry_run=true`, NIGHTLY)).as(DryRun);
  expect(rehearsed.effects.map(({ action, resource }) => [action, resource.id])).toEqual([
    ["update", id],
    ["delete", first?.id],
  ]);
  await tick();
  expect(await backupsOf(me, id)).toHaveLength(2);
  expect((await policyOf(me, id)).keep).toEqual({ last: 5 });
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

test("with nothing due, the schedule function reads four times and writes nothing", async () => {
  const me = await account();
  const { id } = await me.instance();
  await put(me, id);
  for (let i = 0; i < 4; i++) await tick();
  cloud.aws.calls.clear();
  await cloud.events.fire("runpolicies");
  const calls = cloud.aws.calls.list().filter(({ principal }) => isSchedule(principal));
  expect(calls.map(({ action }) => action)).toEqual(["Query", "Query", "Query", "Query"]);
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
