// Whether an instance is protected: overdue after a run that brought no backup, and what remains when its backups are deleted.
import { expect, test } from "vitest";
import * as z from "zod";
import { AwsFault } from "../../infra/local/errors.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Operation } from "../../shared/api/operations.ts";
import { PROTECTION_STATUSES } from "../../shared/domain/lifecycle.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import { holdWork } from "../harness/held-work.ts";
import { age, backupsOf, instanceOf, isSchedule, minutesAgo, policyOf, put, scheduleOf, shift, shownOf } from "./policies.ts";

const cloud = await processCloud();
const { tick, logOfSchedule } = scheduleOf(cloud);

/** An instance whose policy has made its backup, which was begun days ago: `long`. */
async function backedUpLongAgo() {
  const me = await account();
  const { id, server_id } = await me.instance();
  await put(me, id);
  await tick();
  await tick();
  const long = minutesAgo(5 * 24 * 60);
  await updateOne(keys.record("instance", me.id, id), { set: { last_backup_begun_at: long } }, {});
  return { me, id, server_id, long };
}

/** A person's backups, one after the other. */
async function backUp(me: TestAccount, instanceId: string, count: number): Promise<Backup[]> {
  const backups = [];
  for (let i = 0; i < count; i++) {
    backups.push((await me.api.post(`/instances/${instanceId}/backups`, {})).as(Backup));
    await cloud.states.settled();
  }
  return backups;
}

test("after an outage there is one run, and an instance without a recent backup is overdue until it is completed", async () => {
  const { me, id, long } = await backedUpLongAgo();
  const [first] = await backupsOf(me, id);
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
  const { me, id, long } = await backedUpLongAgo();
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
  const { me, id, server_id, long } = await backedUpLongAgo();
  const missedRunAt = minutesAgo(20);
  await shift(me, id, { overdue_at: minutesAgo(1), since: long, next_run_at: missedRunAt });
  await updateOne(keys.record("instance", me.id, id), { set: { next_backup_at: missedRunAt } }, {});
  await updateOne(keys.record("server", me.id, server_id), { set: { state: "unreachable" } }, {});
  await cloud.events.fire("runpolicies");
  const { next_run_at } = await policyOf(me, id);
  expect(Date.parse(next_run_at ?? "")).toBeGreaterThan(Date.now());
  expect((await instanceOf(me, id)).protection).toMatchObject({ status: "overdue", next_backup_at: next_run_at });
  await me.api.delete(`/instances/${id}/backup-policy`); // else its run is tried again during other tests
});

test("an instance becomes overdue although its retention waits for the end of a drill", async () => {
  const { me, id, long } = await backedUpLongAgo();
  const [backup] = await backupsOf(me, id);
  const release = holdWork(cloud);
  await me.api.post(`/backups/${backup?.id}/drill`, {});
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

test("an instance that is overdue while it is being deleted does not make the schedule's run fail", async () => {
  const { me, id, long } = await backedUpLongAgo();
  const release = holdWork(cloud);
  await shift(me, id, { overdue_at: minutesAgo(1), since: long });
  await me.api.delete(`/instances/${id}`);
  const before = logOfSchedule().length;
  await cloud.events.fire("runpolicies");
  await expect
    .poll(logOfSchedule)
    .toContainEqual(expect.stringMatching('"level":"INFO".*"reason":"The instance is being deleted"'));
  expect(logOfSchedule().slice(before).join()).not.toContain('"level":"ERROR"');
  release();
  await cloud.states.settled();
  expect((await me.api.get("/events")).text).not.toContain("instance.overdue");
});

test("an instance that becomes overdue is reported, even if its retention cannot be applied then", async () => {
  const { me, id, long } = await backedUpLongAgo();
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
  const { me, id, long } = await backedUpLongAgo();
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
  const backups = await backUp(me, id, 2);
  await put(me, id);
  const stop = cloud.states.intercept(async (call, next) => {
    if (Task.parse(call.payload).task !== "deleteArchive") return next(call);
    throw Object.assign(new Error("STORAGE_ERROR: The storage does not respond"), { name: "GiveUp" });
  });
  const [older, newer] = backups;
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
  const [backup] = await backUp(me, id, 1);
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
  const deletion = (await me.api.delete(`/backups/${backup?.id}`)).as(Operation);
  await expect.poll(() => seen.write).toBe(true);
  await me.until((await me.api.delete(`/instances/${id}`)).as(Operation).id);
  await me.until(deletion.id);
  stop();
  release();
  expect((await me.api.get(`/backups/${backup?.id}`)).status).toBe(404);
  await cloud.states.settled();
});

test("the end of an instance whose protection changes meanwhile leaves no count", async () => {
  const me = await account({ seeded: true });
  const { id } = await me.instance();
  const [backup] = await backUp(me, id, 1);
  await put(me, id);
  const counts = async () =>
    Promise.all(PROTECTION_STATUSES.map(async (each) => (await me.api.get(`/instances?protection=${each}`)).meta?.total));
  const before = await counts();
  expect(before).toContain(1);
  const seen = { end: false, write: false };
  const { promise: written, resolve: go } = Promise.withResolvers<void>();
  const stop = cloud.states.intercept(async (call, next) => {
    const isLast = Task.parse(call.payload).task === "succeed";
    if (isLast && call.machine.endsWith("-delete-backup")) await written;
    if (isLast && call.machine.endsWith("-delete-instance")) seen.end = true;
    return next(call);
  });
  const release = cloud.aws.inject(({ principal, action }) => {
    if (!seen.end || seen.write || action !== "TransactWriteItems" || !/deleteinstance/i.test(principal)) return undefined;
    seen.write = true;
    return { kind: "slow", milliseconds: 1500 };
  });
  const deletions = [`/backups/${backup?.id}`, `/instances/${id}`].map(
    async (path) => (await me.api.delete(path)).as(Operation).id,
  );
  await expect.poll(() => seen.write).toBe(true);
  go();
  for (const deletion of deletions) await me.until(await deletion);
  stop();
  release();
  expect(await counts()).toEqual(PROTECTION_STATUSES.map(() => 0));
});

test("an instance whose last backups are deleted while the index lags behind is not protected by one of them", async () => {
  const me = await account();
  const { id } = await me.instance();
  const backups = await backUp(me, id, 3);
  await put(me, id);
  const [oldest, ...deleted] = backups;
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
