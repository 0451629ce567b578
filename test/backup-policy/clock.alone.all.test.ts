// Runs of backup policies over nights and years of a clock that the test drives: repeats, outages of servers, changes between due
// and start, clocks that go back, daylight saving.
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { BackupPolicy } from "../../shared/api/policy-shown.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { policyRef } from "../../shared/records/policies.ts";
import { setMachine } from "../../shared/providers/sandbox/machines.ts";
import { getServer } from "../../shared/records/servers.ts";
import { find } from "../../shared/data/table.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { testClock } from "../harness/clock.ts";
import { ownCloud } from "../harness/cloud.ts";
import { holdWork } from "../harness/held-work.ts";

const clock = testClock();
const cloud = await ownCloud({ clock: clock.shared });

const fire = (): Promise<void> => cloud.events.fire("runpolicies");
const tick = async (): Promise<void> => {
  await fire();
  await cloud.states.settled();
};
const tickAt = async (at: string): Promise<void> => {
  clock.set(at);
  await tick();
};

const NIGHTLY = { schedule: "0 2 * * *", keep: { last: 100 } };

interface Subject {
  me: TestAccount;
  id: string;
  path: string;
  policy: () => Promise<BackupPolicy>;
  /** Newest first. */
  backups: () => Promise<string[]>;
  instance: () => Promise<Instance>;
}

const subjectOf = (me: TestAccount, id: string): Subject => {
  const path = `/instances/${id}/backup-policy`;
  onTestFinished(async () => void (await me.api.delete(path)));
  return {
    me,
    id,
    path,
    policy: async () => (await me.api.get(path)).as(BackupPolicy),
    backups: async () =>
      (await me.api.get(`/instances/${id}/backups`)).as(z.array(Backup)).map(({ kind, status }) => `${kind} ${status}`),
    instance: async () => (await me.api.get(`/instances/${id}`)).as(Instance),
  };
};

/** An instance with a policy, which has made its first backup at noon of a day. */
async function since(day: string, policy: object = NIGHTLY): Promise<Subject> {
  clock.set(`${day}T12:00:00Z`);
  const me = await account({ seeded: true });
  const subject = subjectOf(me, (await me.instance()).id);
  await me.api.put(subject.path, policy);
  await tick();
  await tick();
  expect(await subject.backups()).toEqual(["scheduled completed"]);
  return subject;
}

const Task = z.looseObject({ task: z.string() });

/** Makes backups fail on their servers until the function that it returns is called. */
const failBackups = (): (() => void) =>
  cloud.states.intercept(async (call, next) => {
    if (Task.parse(call.payload).task !== "makeArchive") return next(call);
    throw Object.assign(new Error("HOST_JOB_FAILED: The server's disk is full. Free space on it, then try again"), {
      name: "GiveUp",
    });
  });

/** The reason of a run whose server is offline, as a code. */
const IS_OFFLINE = expect.objectContaining({ code: "error_server_not_active" });

test("a run that fails is repeated once after 15 minutes, however many schedule functions run, and then not before the next night", async () => {
  const { me, id, policy, backups } = await since("2027-01-10");
  const mend = failBackups();
  await tickAt("2027-01-11T02:10:00Z");
  expect(await backups()).toEqual(["scheduled failed", "scheduled completed"]);
  clock.advance(14);
  await tick();
  expect(await backups()).toHaveLength(2);
  clock.advance(2);
  await Promise.all([fire(), fire(), fire()]);
  await cloud.states.settled();
  expect(await backups()).toEqual(["scheduled failed", "scheduled failed", "scheduled completed"]);
  const [repeated] = (await me.api.get(`/instances/${id}/backups`)).as(z.array(Backup));
  const failed = { at: "2027-01-11T02:00:00.000Z", status: "failed", backup_id: repeated?.id };
  expect((await policy()).last_run).toEqual({
    ...failed,
    reason: expect.stringContaining("disk is full"),
    reason_details: { code: "disk_full", parameters: {} },
  });
  for (const minutes of [1, 15, 16, 60, 600]) {
    clock.advance(minutes);
    await tick();
    expect(await backups()).toHaveLength(3);
  }
  // The next night fails once, and its repeat succeeds.
  await tickAt("2027-01-12T02:10:00Z");
  mend();
  clock.advance(16);
  await tick();
  expect((await backups()).slice(0, 2)).toEqual(["scheduled completed", "scheduled failed"]);
  expect((await policy()).last_run).toMatchObject({ at: "2027-01-12T02:00:00.000Z", status: "completed", reason: null });
  clock.advance(600);
  await tick();
  expect(await backups()).toHaveLength(5);
});

test.each(["a policy of its own", "the account's default policy"])(
  "the first run, by %s, is due at once, and starts after an outage of the schedule function",
  async (from) => {
    clock.set("2027-01-24T12:00:00Z");
    const me = await account();
    if (from === "the account's default policy") await me.api.put("/settings", { default_backup_policy: NIGHTLY });
    const { path, policy, backups, instance } = subjectOf(me, (await me.instance()).id);
    if (from === "a policy of its own") await me.api.put(path, NIGHTLY);
    const { next_run_at } = await policy();
    expect(next_run_at).toMatch(/^2027-01-24T12:0/);
    expect((await instance()).protection.next_backup_at).toBe(next_run_at);
    clock.advance(20);
    await tick();
    expect(await backups()).toEqual(["scheduled completed"]);
    const next = "2027-01-25T02:00:00.000Z";
    expect(await policy()).toMatchObject({ next_run_at: next, last_run: { at: next_run_at, status: "completed" } });
    expect((await instance()).protection).toMatchObject({ status: "protected", next_backup_at: next });
  },
);

test("failed scheduled backups are deleted after 30 days, unless they are locked", async () => {
  const { me, id, backups, path } = await since("2027-01-25");
  const allow = failBackups();
  await tickAt("2027-01-26T02:10:00Z");
  await tickAt("2027-01-26T02:30:00Z");
  allow();
  expect(await backups()).toEqual(["scheduled failed", "scheduled failed", "scheduled completed"]);
  const [failed] = (await me.api.get(`/instances/${id}/backups`)).as(z.array(Backup));
  expect(failed?.expires_at).toMatch(/^2027-02-25/);
  await me.api.put(`/backups/${failed?.id}`, { locked: true });
  await me.api.delete(path);
  for (const [at, expected] of [
    ["2027-02-25T02:00:00Z", ["scheduled failed", "scheduled failed", "scheduled completed"]],
    ["2027-02-25T03:00:00Z", ["scheduled failed", "scheduled completed"]],
  ] as const) {
    clock.set(at);
    await cloud.events.fire("expirebackups");
    await cloud.states.settled();
    expect(await backups()).toEqual(expected);
  }
});

/** The subject's server stops responding, or responds again. */
async function reach({ me, instance }: Subject, responds: boolean): Promise<void> {
  const { machine_id } = await getServer(me.id, (await instance()).server_id);
  await setMachine(String(machine_id), { offline: !responds });
  for (let i = 0; i < 5; i++) await cloud.events.fire("checkservers");
}

test("a run whose server does not respond is retried for an hour, then skipped with the reason, and the instance becomes overdue", async () => {
  const subject = await since("2027-01-13");
  const { me, policy, backups, instance } = subject;
  await reach(subject, false);
  await tickAt("2027-01-14T02:10:00Z");
  for (const minutes of [20, 20, 19]) {
    clock.advance(minutes);
    await tick();
    expect((await policy()).last_run).toMatchObject({ at: expect.stringContaining("2027-01-13"), status: "completed" });
  }
  expect((await instance()).protection.status).toBe("protected");
  clock.advance(2);
  await tick();
  const { last_run, next_run_at } = await policy();
  const skipped = { at: "2027-01-14T02:00:00.000Z", status: "skipped", backup_id: null };
  expect(last_run).toEqual({ ...skipped, reason: expect.stringContaining("is offline"), reason_details: IS_OFFLINE });
  expect(next_run_at).toBe("2027-01-15T02:00:00.000Z");
  expect((await me.api.get("/events?per_page=1")).text).toContain("backup_policy.run_skipped");
  await tickAt("2027-01-14T04:01:00Z");
  expect((await instance()).protection).toMatchObject({ status: "overdue", next_backup_at: next_run_at });
  expect((await me.api.get("/events?per_page=1")).text).toContain("instance.overdue");
  expect(await backups()).toHaveLength(1);
  await reach(subject, true);
  await tickAt("2027-01-15T02:10:00Z");
  expect(await backups()).toHaveLength(2);
  expect((await instance()).protection.status).toBe("protected");
});

test("a run whose server responds again within the hour takes place", async () => {
  const subject = await since("2027-01-16");
  await reach(subject, false);
  await tickAt("2027-01-17T02:10:00Z");
  clock.advance(50);
  await tick();
  expect(await subject.backups()).toHaveLength(1);
  await reach(subject, true);
  await tick();
  expect(await subject.backups()).toHaveLength(2);
  expect((await subject.policy()).last_run).toMatchObject({ at: "2027-01-17T02:00:00.000Z", status: "completed" });
});

test("an hourly policy whose server does not respond says so, although its next run is due before the hour is over, and that one is not lost", async () => {
  const subject = await since("2027-01-18", { ...NIGHTLY, schedule: "5 * * * *" });
  await tickAt("2027-01-18T12:14:00Z");
  await reach(subject, false);
  await tickAt("2027-01-18T13:14:00Z");
  await tickAt("2027-01-18T14:14:00Z");
  const { last_run, next_run_at } = await subject.policy();
  expect(last_run).toMatchObject({
    at: "2027-01-18T13:05:00.000Z",
    status: "skipped",
    reason: expect.stringContaining("is offline"),
  });
  expect(next_run_at).toBe("2027-01-18T14:05:00.000Z");
  expect(await subject.backups()).toHaveLength(2);
  await reach(subject, true);
  await tickAt("2027-01-18T14:16:00Z");
  expect(await subject.backups()).toHaveLength(3);
  expect(await subject.policy()).toMatchObject({
    last_run: { at: "2027-01-18T14:05:00.000Z", status: "completed" },
    next_run_at: "2027-01-18T15:05:00.000Z",
  });
  await tickAt("2027-01-18T15:05:30Z");
  expect((await subject.instance()).protection.status).toBe("protected");
  expect((await subject.me.api.get("/events?type=instance.overdue")).meta?.total).toBe(0);
});

test("of a long outage, an hourly policy tries and records each run", async () => {
  const subject = await since("2027-01-20", { ...NIGHTLY, schedule: "5 * * * *" });
  await tickAt("2027-01-20T12:14:00Z");
  await reach(subject, false);
  for (let minutes = 0; minutes < 5 * 60; minutes += 15) {
    clock.advance(15);
    await tick();
  }
  const skipped = await subject.me.api.get("/events?type=backup_policy.run_skipped");
  expect(skipped.meta?.total).toBe(4); // of 13:05 to 16:05; that of 17:05 is still tried
  expect((await subject.policy()).last_run).toMatchObject({ at: "2027-01-20T16:05:00.000Z", status: "skipped" });
});

test("a policy's drill that could not be held is tried again a day later, and then after its period", async () => {
  const subject = await since("2027-05-03", { ...NIGHTLY, drill_every_days: 30 });
  const { me, id, policy } = subject;
  const drills = async () => {
    const operations = (await me.api.get(`/operations?resource_id=${id}`)).as(z.array(Operation));
    return operations.filter(({ type }) => type === "backup.drill").map(({ status }) => status);
  };
  const stop = cloud.states.intercept(async (call, next) => {
    if (Task.parse(call.payload).task !== "drillArchive") return next(call);
    throw Object.assign(new Error("HOST_JOB_FAILED: There is not enough memory"), { name: "GiveUp" });
  });
  await tickAt("2027-05-03T12:20:00Z");
  expect(await drills()).toEqual(["failed"]);
  // A person's drill that fails leaves the policy's next one as it is.
  const [backup] = (await me.api.get(`/instances/${id}/backups`)).as(z.array(Backup));
  clock.advance(60);
  await me.until((await me.api.post(`/backups/${backup?.id}/drill`, {})).as(Operation).id, "failed");
  stop();
  await tickAt("2027-05-04T12:10:00Z");
  expect(await drills()).toEqual(["failed", "failed"]);
  await tickAt("2027-05-04T12:25:00Z");
  expect(await drills()).toEqual(["succeeded", "failed", "failed"]);
  await tickAt("2027-06-03T12:20:00Z");
  expect(await drills()).toHaveLength(3);
  await tickAt("2027-06-03T12:30:00Z");
  expect(await drills()).toHaveLength(4);
  expect((await policy()).drill_every_days).toBe(30);
});

test("a clock that goes back between runs of the function makes no second backup of a run, and loses none", async () => {
  const { backups, policy } = await since("2027-01-19");
  await tickAt("2027-01-20T02:10:00Z");
  expect(await backups()).toHaveLength(2);
  for (const at of ["01:30", "02:00", "02:10", "12:00"]) await tickAt(`2027-01-20T${at}:00Z`);
  await tickAt("2027-01-18T02:10:00Z");
  expect(await backups()).toHaveLength(2);
  expect((await policy()).next_run_at).toBe("2027-01-21T02:00:00.000Z");
  await tickAt("2027-01-21T02:10:00Z");
  expect(await backups()).toHaveLength(3);
});

/** What the schedule function asks of AWS in one run. */
async function callsOfFunction(): Promise<string[]> {
  cloud.aws.calls.clear();
  await tick();
  return cloud.aws.calls
    .list()
    .filter(({ principal }) => /runpolicies/i.test(principal))
    .map(({ action }) => action);
}

test("a run that took place already, before its policy was set again on a clock that went back, is not tried each minute", async () => {
  const { me, path, backups, policy } = await since("2027-01-22");
  await tickAt("2027-01-23T02:10:00Z");
  expect(await backups()).toHaveLength(2);
  clock.set("2027-01-23T01:30:00Z");
  await me.api.delete(path);
  await me.api.put(path, NIGHTLY);
  expect((await policy()).next_run_at).toBe("2027-01-23T02:00:00.000Z");
  await tickAt("2027-01-23T02:10:00Z");
  expect(await backups()).toHaveLength(2);
  expect((await policy()).next_run_at).toBe("2027-01-24T02:00:00.000Z");
  clock.advance(1);
  expect(await callsOfFunction()).toEqual(Array.from({ length: 5 }, () => "Query"));
  await tickAt("2027-01-24T02:10:00Z");
  expect(await backups()).toHaveLength(3);
});

describe("between the due time of a run and its start", () => {
  /** A run is due; it has not started yet. */
  async function due(day: string): Promise<Subject> {
    const subject = await since(`2027-02-${day}`);
    await tickAt(`2027-02-${Number(day) + 1}T02:00:00.000Z`);
    expect(await subject.backups()).toHaveLength(1);
    return subject;
  }

  test("a policy that is disabled makes no backup, and enabled again it makes the next one", async () => {
    const { me, path, backups, policy, instance } = await due("10");
    await me.api.put(path, { ...NIGHTLY, enabled: false });
    await tickAt("2027-02-11T02:10:00Z");
    expect(await backups()).toHaveLength(1);
    expect((await policy()).next_run_at).toBeNull();
    expect((await instance()).protection).toMatchObject({ status: "unprotected", next_backup_at: null });
    await me.api.put(path, NIGHTLY);
    await tick();
    expect(await backups()).toHaveLength(1);
    await tickAt("2027-02-12T02:10:00Z");
    expect(await backups()).toHaveLength(2);
  });

  test("a policy that is deleted makes no backup", async () => {
    const { me, path, backups, instance } = await due("13");
    await me.api.delete(path);
    await tickAt("2027-02-14T02:10:00Z");
    expect(await backups()).toHaveLength(1);
    expect((await instance()).protection.status).toBe("unprotected");
  });

  test("a policy with another schedule makes the backup that was due, and then those of its schedule", async () => {
    const { me, path, backups, policy } = await due("15");
    await me.api.put(path, { ...NIGHTLY, schedule: "0 5 * * *" });
    await tickAt("2027-02-16T02:10:00Z");
    expect(await backups()).toHaveLength(2);
    expect(await policy()).toMatchObject({
      last_run: { at: "2027-02-16T02:00:00.000Z" },
      next_run_at: "2027-02-16T05:00:00.000Z",
    });
    await tickAt("2027-02-16T05:10:00Z");
    expect(await backups()).toHaveLength(3);
  });

  test("an instance that is deleted is not backed up, also if the index still shows its policy", async () => {
    const { me, id } = await due("18");
    const before = (await me.api.get("/backups")).meta?.total;
    const release = await cloud.aws.holdIndexes();
    await me.api.delete(`/instances/${id}`);
    await cloud.states.settled();
    await tickAt("2027-02-19T02:10:00Z");
    await release();
    await tick();
    expect((await me.api.get("/backups")).meta?.total).toBe(before);
    expect(cloud.log.filter((line) => /runpolicies/i.test(line))).toEqual([]);
  });
});

test("a run waits for a place until an hour before the next one is due, neither skipped nor overdue, and then gives its reason", async () => {
  clock.set("2027-02-22T12:00:00Z");
  const me = await account({ seeded: true });
  const server = await me.server();
  const subjects: Subject[] = [];
  for (let i = 0; i < 3; i++) {
    const subject = subjectOf(me, (await me.instance({ server_id: server.id })).id);
    await me.api.put(subject.path, NIGHTLY);
    await tick();
    subjects.push(subject);
  }
  const release = holdWork(cloud);
  for (const at of ["23T02:10", "23T12:00", "24T00:59"]) {
    clock.set(`2027-02-${at}:00Z`);
    await fire();
  }
  const waiting = [];
  for (const subject of subjects)
    if ((await me.api.get(`/instances/${subject.id}/backups`)).text.includes('"operation_id":null,"created_at":"2027-02-23'))
      waiting.push(subject);
  expect(waiting).toHaveLength(1);
  for (const { backups, instance } of waiting) {
    expect(await backups()).toEqual(["scheduled pending", "scheduled completed"]);
    expect((await instance()).protection.status).toBe("protected");
  }
  clock.set("2027-02-24T01:01:00Z");
  await fire();
  for (const { backups, policy } of waiting) {
    expect(await backups()).toEqual(["scheduled completed"]);
    const skipped = { at: "2027-02-23T02:00:00.000Z", status: "skipped" };
    expect((await policy()).last_run).toMatchObject({ ...skipped, reason: expect.stringContaining("no place") });
  }
  release();
  await cloud.states.settled();
});

describe("a run that waits for a place", () => {
  /**
   * Instances on one server on the night after a day, in the order of their runs, without the two whose backups run until the
   * work is released.
   */
  async function waitingOn(day: string, instances: number): Promise<{ waiting: Subject[]; release: () => Promise<void> }> {
    clock.set(`${day}T12:00:00Z`);
    const me = await account({ seeded: true });
    const server = await me.server();
    const subjects: Subject[] = [];
    for (let i = 0; i < instances; i++) {
      const subject = subjectOf(me, (await me.instance({ server_id: server.id })).id);
      await me.api.put(subject.path, NIGHTLY);
      await tick();
      subjects.push(subject);
    }
    const release = holdWork(cloud);
    clock.advance(14 * 60 + 10);
    await fire();
    const operations = await Promise.all(subjects.map(async ({ instance }) => (await instance()).operation_id));
    const starts = await Promise.all(
      subjects.map(async (subject, index) => ({
        subject,
        waits: operations[index] === null,
        at: (await find(policyRef(me.id, subject.id)))?.due?.start_at ?? "",
      })),
    );
    const waiting = starts.filter(({ waits }) => waits).toSorted((a, b) => (a.at < b.at ? -1 : 1));
    expect(waiting).toHaveLength(instances - 2);
    return {
      waiting: waiting.map(({ subject }) => subject),
      release: async () => {
        release();
        await cloud.states.settled();
      },
    };
  }

  test("is not skipped because its instance was locked when there was a place that others took", async () => {
    const { waiting, release } = await waitingOn("2027-04-05", 5);
    await release();
    const hold = holdWork(cloud);
    for (const { me, id } of waiting.slice(0, 1)) {
      await me.api.post(`/instances/${id}/actions`, { action: "restart" });
      await fire();
      clock.advance(61);
      await fire();
    }
    for (const { backups } of waiting) expect(await backups()).toEqual(["scheduled pending", "scheduled completed"]);
    hold();
    await cloud.states.settled();
    await tick();
    for (const { policy } of waiting)
      expect((await policy()).last_run).toMatchObject({ at: "2027-04-06T02:00:00.000Z", status: "completed" });
  });

  test("is skipped with its server's status, if that stops responding once there is a place", async () => {
    const { waiting, release } = await waitingOn("2027-04-08", 3);
    await release();
    for (const subject of waiting) {
      await reach(subject, false);
      await fire();
      clock.advance(61);
      await fire();
      const skipped = { at: "2027-04-09T02:00:00.000Z", status: "skipped", backup_id: null };
      expect((await subject.policy()).last_run).toEqual({
        ...skipped,
        reason: expect.stringContaining("is offline"),
        reason_details: IS_OFFLINE,
      });
    }
  });
});

test("across daylight saving, a time that the clocks skip runs right after the gap, and one that they show twice runs once", async () => {
  const berlin = { schedule: "30 2 * * *", timezone: "Europe/Berlin", keep: { last: 100 } };
  const { backups, policy } = await since("2027-03-27", berlin);
  expect((await policy()).next_run_at).toBe("2027-03-28T01:00:00.000Z");
  await tickAt("2027-03-28T00:59:00Z"); // 01:59
  expect(await backups()).toHaveLength(1);
  await tickAt("2027-03-28T01:10:00Z"); // 03:10
  expect(await backups()).toHaveLength(2);
  expect((await policy()).last_run).toMatchObject({ at: "2027-03-28T01:00:00.000Z", status: "completed" });
  await tickAt("2027-03-28T01:45:00Z");
  expect(await backups()).toHaveLength(2);
  expect((await policy()).next_run_at).toBe("2027-03-29T00:30:00.000Z");
  // Half a year without the service is one run.
  await tickAt("2027-10-30T12:00:00Z");
  await tick();
  expect(await backups()).toHaveLength(3);
  await tickAt("2027-10-31T00:40:00Z"); // 02:40, the first time
  expect(await backups()).toHaveLength(4);
  await tickAt("2027-10-31T01:40:00Z"); // 02:40, the second time
  expect(await backups()).toHaveLength(4);
  expect(await policy()).toMatchObject({
    last_run: { at: "2027-10-31T00:30:00.000Z" },
    next_run_at: "2027-11-01T01:30:00.000Z",
  });
});
