// The tasks of a restore, run in this process: which jobs they give to the machine, and what they do with each result. The state
// machine, the table, the storage and the sandbox's machine are the real ones; a test may put its own response in place of a
// job's.
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { handler as backUp } from "../../functions/workflows/create-backup/tasks.ts";
import { handler } from "../../functions/workflows/restore-backup/tasks.ts";
import { workflows } from "../../functions/workflows/index.ts";
import type { Backup } from "../../shared/api/backups.ts";
import type { Instance } from "../../shared/api/instances.ts";
import { backupRef, getBackup } from "../../shared/records/backups.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { recordProbe } from "../../shared/records/machines.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import { getServer } from "../../shared/records/servers.ts";
import { find } from "../../shared/data/table.ts";
import type { Job, JobKind } from "../../shared/hosts/host.ts";
import { GiveUp, TryAgain } from "../../shared/platform/task-errors.ts";
import { archiveKey } from "../../shared/storage/archive-key.ts";
import { storedObject } from "../../shared/storage/archives.ts";
import { requireStoredArchive } from "../../shared/storage/stored-archive.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { erpsOf } from "./erps.ts";
import { InjectedError, type Intercept, type Run, type WorkflowHarness, workflowHarness } from "./harness.ts";
import { expectConsistent, snapshotOf } from "./snapshot.ts";
import { because } from "../../shared/domain/reasons.ts";

type AnyJob = Job;
type Respond = (job: AnyJob, count: number, work: () => Promise<{ ready: boolean; result?: unknown }>) => unknown;

/** The jobs in the order of their requests, and what the machine responds. */
const machine = vi.hoisted(() => {
  const asIs: Respond = (_job, _count, work) => work();
  return { jobs: new Array<AnyJob>(), asIs, respond: asIs };
});

vi.mock("../../shared/hosts/sandbox/host.ts", async (original) => {
  const { sandbox } = await original<typeof import("../../shared/hosts/sandbox/host.ts")>();
  const run = async (server: Parameters<typeof sandbox.run>[0], job: AnyJob) => {
    machine.jobs.push(job);
    const count = machine.jobs.filter(({ kind }) => kind === job.kind).length;
    return machine.respond(job, count, () => sandbox.run(server, job));
  };
  return { sandbox: { ...sandbox, run } };
});

const workflow = workflows["restore-backup"];
const STEPS = workflow.steps.map(({ name }) => name);
const OLD = { orders: 2, note: "written since the backup" };
const ARCHIVED = { orders: 1 };

let cloud: TestCloud;
let harness: WorkflowHarness;
beforeAll(async () => {
  cloud = await processCloud();
  harness = await workflowHarness(cloud, { seeded: true });
});
afterAll(() => {
  machine.respond = machine.asIs; // the next file has this process
  harness.close();
});
beforeEach(() => {
  machine.jobs.length = 0;
  machine.respond = machine.asIs;
});

const { api, show, write, erpOf } = erpsOf(() => harness);

/** An instance whose data changed after the backup. */
async function changed(from: "running" | "stopped" = "running"): Promise<{ instance: Instance; backup: Backup }> {
  const instance = await harness.me.instance();
  await write(instance.id, ARCHIVED);
  const backup = await harness.me.backup(instance.id);
  await write(instance.id, OLD);
  if (from === "stopped")
    await harness.run(workflows["stop-instance"], async () =>
      (await api()).post(`/instances/${instance.id}/actions`, { action: "stop" }),
    );
  return { instance, backup };
}

/** Each task runs here; `before` may run, or throw, before a task's work. */
async function restore(backup: Backup, body: object = {}, before: (task: string) => unknown = () => undefined) {
  machine.jobs.length = 0; // those that made the instance and the backup
  const intercept: Intercept = async ({ task, payload }) => {
    await before(task);
    return handler(payload);
  };
  return harness.run(workflow, async () => (await api()).post(`/backups/${backup.id}/restore`, body), intercept);
}

const dataOf = async (instance: Instance): Promise<unknown> => JSON.parse((await erpOf(instance)).database?.data ?? "");
const failAt =
  (failing: string, name: "GiveUp" | "TryAgain" = "GiveUp") =>
  (task: string) => {
    if (task === failing) throw new InjectedError(name);
  };
/** How often a task ran, in one execution: a second one would be the rescue of one that died. */
function triesOf(name: string, { tasks }: Run): number {
  expect(new Set(tasks.map(({ execution }) => execution)).size).toBe(1);
  return tasks.filter(({ task }) => task === name).length;
}
const kinds = (): string[] => machine.jobs.map(({ kind }) => kind);
const jobs = (kind: JobKind): AnyJob[] => machine.jobs.filter((job) => job.kind === kind);
const stepJobs = ({ id }: OperationRecord): string[] => STEPS.map((name) => `${id}-${name}`);
const safetyIdOf = ({ input }: OperationRecord): string => String(input["safety_backup_id"]);

/** Every job takes a second look. */
const slowly: Respond = (_job, count, work) => (count === 1 ? { ready: false } : work());
const unreachable =
  (kind: JobKind): Respond =>
  (job, _count, work) => {
    if (job.kind === kind) throw new TryAgain("HOST_UNREACHABLE", because("server_silent"));
    return work();
  };

/** The health check misses the machine. */
const miss = async ({ server_id }: Instance): Promise<void> =>
  recordProbe(await getServer(harness.me.id, server_id), { responded: false });
/** The health check finds it again, for the next test: all instances are on one server. */
const meet = async ({ server_id }: Instance): Promise<void> =>
  recordProbe(await getServer(harness.me.id, server_id), { responded: true });

describe("a restore that succeeds", () => {
  test("asks for each job until it is ready, with what the job needs", async () => {
    const { instance, backup } = await changed();
    machine.respond = slowly;
    const { operation } = await restore(backup, { neutralize: true });
    expect(operation.state).toBe("succeeded");
    const id = (name: string) => `${operation.id}-${name}`;
    const archive = requireStoredArchive(await getBackup(harness.me.id, backup.id));
    const of = { instance_id: instance.id, restore_id: operation.id };
    const parts = { restore_database: true, restore_filestore: true };
    const safety = await getBackup(harness.me.id, safetyIdOf(operation));
    const expected = [
      { id: id("verifyArchive"), kind: "verify_archive", archive },
      { id: id("buildRestore"), kind: "build_restore", ...of, archive, ...parts, neutralize: true, backup_first: true },
      { id: id("pauseErp"), kind: "pause_erp", ...of },
      { id: id("makeSafetyBackup"), kind: "make_archive", ...of, key: archiveKey(safety), note: safety.note },
      { id: `${id("makeSafetyBackup")}-forget`, kind: "forget_archive", made_by: id("makeSafetyBackup") },
      { id: id("swapRestore"), kind: "swap_restore", ...of, ...parts },
      { id: id("awaitHealthy"), kind: "check_health", instance_id: instance.id },
      { id: id("dropOld"), kind: "drop_old", ...of },
    ];
    expect(machine.jobs).toEqual(expected.flatMap((job) => [job, job]));
  });

  test("takes a safety backup that is complete, shows it and the downtime, and says whether the data is neutralized", async () => {
    const { instance, backup } = await changed();
    const { operation } = await restore(backup, { neutralize: true });
    const safety = await getBackup(harness.me.id, safetyIdOf(operation));
    expect(safety).toMatchObject({
      state: "completed",
      kind: "pre_restore",
      operation_id: null,
      completed_at: expect.any(String),
    });
    expect(await storedObject(archiveKey(safety))).toMatchObject({ size_bytes: safety.size_bytes });
    expect(operation.result).toEqual({ backup_id: backup.id, safety_backup_id: safety.id, downtime_seconds: 1 });
    expect(await dataOf(instance)).toEqual(ARCHIVED);
    expect(await show(instance.id)).toMatchObject({ status: "running", neutralized: true });
    await restore(backup, { backup_first: false });
    expect(await show(instance.id)).toMatchObject({ neutralized: false });
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  });

  test("passes on what is to be restored, and takes no safety backup that nobody wants", async () => {
    const { backup } = await changed();
    const { operation } = await restore(backup, { restore_filestore: false, backup_first: false });
    expect(kinds()).toEqual(["verify_archive", "build_restore", "swap_restore", "check_health", "drop_old"]);
    const parts = { restore_database: true, restore_filestore: false };
    expect(jobs("build_restore")).toMatchObject([{ ...parts, neutralize: false, backup_first: false }]);
    expect(jobs("swap_restore")).toMatchObject([parts]);
    expect(operation.result).toEqual({ backup_id: backup.id, downtime_seconds: 1 });
    expect(await find(backupRef(harness.me.id, safetyIdOf(operation)))).toBeUndefined();
  });

  test("stops the ERP again if it was stopped", async () => {
    const { instance, backup } = await changed("stopped");
    machine.respond = slowly;
    const { operation } = await restore(backup);
    const stop = { id: `${operation.id}-stopAgain`, kind: "stop_erp", instance_id: instance.id };
    expect(jobs("stop_erp")).toEqual([stop, stop]);
    expect(await erpOf(instance)).toMatchObject({ status: "stopped" });
    expect(await show(instance.id)).toMatchObject({ status: "stopped" });
  });

  test("shows files that the safety backup skipped, and no downtime that is unknown", async () => {
    const { backup } = await changed();
    machine.respond = async (job, _count, work) => {
      const { ready, result } = await work();
      if (!ready || typeof result !== "object") return { ready, result };
      if (job.kind === "make_archive") return { ready, result: { ...result, skipped_paths: ["socket"] } };
      return { ready, result: job.kind === "swap_restore" ? { downtime_seconds: null } : result };
    };
    const { operation } = await restore(backup);
    expect(operation.result).toEqual({
      backup_id: backup.id,
      safety_backup_id: safetyIdOf(operation),
      skipped_paths: ["socket"],
    });
  });

  test("completes the safety backup once, also if the step runs again because its response was lost", async () => {
    const { backup } = await changed();
    const completionTimes: (string | null)[] = [];
    const { operation } = await harness.run(
      workflow,
      async () => (await api()).post(`/backups/${backup.id}/restore`, {}),
      async ({ task, payload, tries }) => {
        await handler(payload);
        if (task !== "makeSafetyBackup") return null;
        const safety = await getBackup(harness.me.id, String(payload.input["safety_backup_id"]));
        completionTimes.push(safety.completed_at);
        if (tries < 3) throw new InjectedError("TryAgain");
        return null;
      },
    );
    expect(operation.state).toBe("succeeded");
    expect(completionTimes).toHaveLength(3);
    expect(new Set(completionTimes).size).toBe(1);
    expect(operation.result).toMatchObject({ safety_backup_id: safetyIdOf(operation) });
  });
});

test("a safety backup that the storage does not have as it was made fails the restore, and is removed", async () => {
  const { instance, backup } = await changed();
  machine.respond = async (job, _count, work) => {
    const { ready, result } = await work();
    const other = job.kind === "make_archive" && typeof result === "object" ? { ...result, stored_checksum: "another" } : result;
    return { ready, result: other };
  };
  const { operation } = await restore(backup);
  expect(operation).toMatchObject({ state: "failed", error: { code: "STORAGE_ERROR" } });
  const safety = await getBackup(harness.me.id, safetyIdOf(operation));
  expect(safety).toMatchObject({ state: "failed" });
  expect(await storedObject(archiveKey(safety))).toBeUndefined();
  expect(await dataOf(instance)).toEqual(OLD);
});

test("a restore whose ERP never responds says what its machine found", async () => {
  const { instance, backup } = await changed();
  const reason = because("database_server_not_running");
  machine.respond = (job, _count, work) => (job.kind === "check_health" ? { ready: false, reason } : work());
  const { operation } = await restore(backup);
  expect(operation.error).toMatchObject({
    code: "TIMEOUT",
    message: "Waiting for the ERP to respond timed out. The database server is not running",
    reason: { code: "step_timed_out_because", parameters: { why_code: "database_server_not_running" } },
  });
  expect(await dataOf(instance)).toEqual(OLD);
});

describe("undoing the swap", () => {
  test.each([
    ["running", true],
    ["stopped", false],
  ] as const)("puts the old data of an instance that was %s back, and ends all jobs of the restore", async (from, start) => {
    const { instance, backup } = await changed(from);
    machine.respond = (job, count, work) => (job.kind === "put_back" ? slowly(job, count, work) : work());
    const { operation } = await restore(backup, {}, failAt("awaitHealthy"));
    expect(operation.state).toBe("failed");
    const job = { kind: "put_back", instance_id: instance.id, restore_id: operation.id, start, ends: stepJobs(operation) };
    expect(jobs("put_back")).toEqual([1, 2].map(() => ({ ...job, id: `${operation.id}-putBack-try1` })));
    expect(await dataOf(instance)).toEqual(OLD);
    expect(await erpOf(instance)).toMatchObject({ status: from });
    expect(await show(instance.id)).toMatchObject({ status: from });
    // The safety backup is valid, and stays.
    const safety = await getBackup(harness.me.id, safetyIdOf(operation));
    expect(safety.state).toBe("completed");
    expect(await storedObject(archiveKey(safety))).toBeDefined();
    expect(jobs("forget_archive").map(({ id }) => id)).toEqual([`${operation.id}-makeSafetyBackup-forget`]);
  });

  test("on a machine that is down leaves an instance that has failed, because nobody knows which data it has", async () => {
    const { instance, backup } = await changed();
    machine.respond = unreachable("put_back");
    await miss(instance);
    const { operation } = await restore(backup, {}, failAt("awaitHealthy"));
    await meet(instance);
    expect(operation.state).toBe("failed");
    expect(jobs("put_back")).toHaveLength(1);
    expect(await getInstance(harness.me.id, instance.id)).toMatchObject({ state: "failed", operation_id: null });
  });
});

describe("removing a safety backup that was not completed", () => {
  /** The archive is stored, and the step fails before it records that. */
  const unrecorded: Respond = async (job, _count, work) => {
    const result = await work();
    if (job.kind === "make_archive") throw new GiveUp("HOST_JOB_FAILED", because("erp_does_not_stop"));
    return result;
  };

  test("ends its job, and leaves neither its archive nor a backup that seems to be one", async () => {
    const { instance, backup } = await changed();
    machine.respond = (job, count, work) =>
      job.kind === "forget_archive" ? slowly(job, count, work) : unrecorded(job, count, work);
    const keys: string[] = [];
    const run = await restore(backup, {}, async (task) => {
      if (task !== "closeSafetyBackup" || keys.length > 0) return;
      for (const job of jobs("make_archive")) if ("key" in job) keys.push(job.key);
      for (const key of keys) expect(await storedObject(key)).toBeDefined();
    });
    const { operation } = run;
    expect(operation).toMatchObject({ state: "failed", error: { code: "HOST_JOB_FAILED" } });
    expect(triesOf("closeSafetyBackup", run)).toBe(2);
    const made_by = `${operation.id}-makeSafetyBackup`;
    const job = { id: `${operation.id}-closeSafetyBackup-try1`, kind: "forget_archive", made_by, ends: [made_by] };
    expect(jobs("forget_archive")).toEqual([job, job]);
    expect(keys).toHaveLength(1);
    for (const key of keys) expect(await storedObject(key)).toBeUndefined();
    expect(await getBackup(harness.me.id, safetyIdOf(operation))).toMatchObject({ state: "failed", operation_id: null });
    expect(await dataOf(instance)).toEqual(OLD);
  });

  test("does without a machine that is down", async () => {
    const { instance, backup } = await changed();
    machine.respond = async (job, count, work) => {
      if (job.kind === "make_archive") {
        await miss(instance);
        return unrecorded(job, count, work);
      }
      return unreachable("forget_archive")(job, count, work);
    };
    const { operation } = await restore(backup);
    await meet(instance);
    expect(operation.state).toBe("failed");
    expect(jobs("forget_archive")).toHaveLength(1);
    const safety = await getBackup(harness.me.id, safetyIdOf(operation));
    expect(safety.state).toBe("failed");
    expect(await storedObject(archiveKey(safety))).toBeUndefined();
  });

  test("has nothing to do if the backup was not begun", async () => {
    const { backup } = await changed();
    const run = await restore(backup, {}, failAt("makeSafetyBackup"));
    const { operation } = run;
    expect(operation.state).toBe("failed");
    expect(triesOf("closeSafetyBackup", run)).toBe(1);
    expect(await find(backupRef(harness.me.id, safetyIdOf(operation)))).toBeUndefined();
    expect(kinds()).not.toContain("forget_archive");
  });
});

describe("once the old data may be gone", () => {
  const notAtFirst =
    (respond: Respond): Respond =>
    (job, count, work) => {
      if (job.kind === "drop_old" && count === 1) throw new GiveUp("HOST_JOB_FAILED", because("erp_does_not_stop"));
      return respond(job, count, work);
    };

  test("a failure drops it again, and the restore has succeeded", async () => {
    const { instance, backup } = await changed();
    machine.respond = notAtFirst((job, count, work) => (job.kind === "drop_old" && count === 2 ? { ready: false } : work()));
    const run = await restore(backup, { neutralize: true });
    const { operation } = run;
    expect(operation).toMatchObject({ state: "succeeded", error: null });
    expect(triesOf("putBack", run)).toBe(2);
    const job = { kind: "drop_old", instance_id: instance.id, restore_id: operation.id };
    const again = { ...job, id: `${operation.id}-putBack-try1`, ends: stepJobs(operation) };
    expect(jobs("drop_old")).toEqual([{ ...job, id: `${operation.id}-dropOld` }, again, again]);
    expect(kinds()).not.toContain("put_back");
    expect(await dataOf(instance)).toEqual(ARCHIVED);
    expect(await erpOf(instance)).toMatchObject({ replaced: null });
    expect(await show(instance.id)).toMatchObject({ status: "running", neutralized: true });
  });

  test("it is left on a machine that is down", async () => {
    const { instance, backup } = await changed();
    await miss(instance);
    machine.respond = notAtFirst(unreachable("drop_old"));
    const { operation } = await restore(backup);
    await meet(instance);
    expect(operation.state).toBe("succeeded");
    expect(jobs("drop_old")).toHaveLength(2);
    expect(await dataOf(instance)).toEqual(ARCHIVED);
  });

  test("it is left if it cannot be dropped in six tries", async () => {
    const { backup } = await changed();
    machine.respond = (job, _count, work) => {
      if (job.kind === "drop_old") throw new GiveUp("HOST_JOB_FAILED", because("erp_does_not_stop"));
      return work();
    };
    const { operation } = await restore(backup);
    expect(operation.state).toBe("succeeded");
    expect(jobs("drop_old").map(({ id }) => id)).toEqual([
      `${operation.id}-dropOld`,
      ...[1, 2, 3, 4, 5, 6].map((n) => `${operation.id}-putBack-try${n}`),
    ]);
  });

  test("it is not given up while the machine may come back", async () => {
    const { backup } = await changed();
    let misses = 0;
    machine.respond = (job, count, work) => {
      if (job.kind !== "drop_old") return work();
      // Six tries fail, which are enough; what may pass is waited for all the same.
      if (count <= 6) throw new GiveUp("HOST_JOB_FAILED", because("erp_does_not_stop"));
      if (misses++ < 3) throw new TryAgain("HOST_UNREACHABLE", because("server_silent"));
      return work();
    };
    const { operation } = await restore(backup);
    expect(operation.state).toBe("succeeded");
    expect(jobs("drop_old")).toHaveLength(6 + 3 + 1);
  });
});

test("a backup is completed although its machine goes away as soon as the archive is stored", async () => {
  const { instance } = await changed();
  machine.jobs.length = 0;
  // The machine goes away before it is told to forget the archive, and then no look at the job could say what is stored.
  machine.respond = async (job, count, work) => {
    if (job.kind === "forget_archive") await miss(instance);
    return job.kind === "forget_archive" || count > 1 ? unreachable(job.kind)(job, count, work) : work();
  };
  const { operation } = await harness.run(
    workflows["create-backup"],
    async () => (await api()).post(`/instances/${instance.id}/backups`, {}),
    async ({ payload }) => backUp(payload),
  );
  await meet(instance);
  expect(operation).toMatchObject({ state: "succeeded", error: null });
  const { id } = operation.resource;
  const { size_bytes, state } = await getBackup(harness.me.id, id);
  expect([state, await storedObject(archiveKey(await getBackup(harness.me.id, id)))]).toMatchObject([
    "completed",
    { size_bytes },
  ]);
});
