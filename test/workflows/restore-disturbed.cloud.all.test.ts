// Restores of one part of an instance, and tasks that write after their operation was given up.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { workflows } from "../../functions/workflows/index.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Instance } from "../../shared/api/instances.ts";
import { startChange } from "../../shared/data/change.ts";
import { adoptDomain, getInstance } from "../../shared/records/instances.ts";
import { findOperation, markUndoing } from "../../shared/records/operations.ts";
import { endOperation } from "../../shared/operations/work/operation-ends.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import { completeSafetyBackup, reserveSafetyBackup } from "../../shared/operations/backups/safety-backups.ts";
import { uniqueDomain } from "../harness/account.ts";
import type { ApiResponse } from "../harness/client.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { InjectedError, type WorkflowHarness, workflowHarness } from "./harness.ts";
import { ARCHIVED, OLD, restoresOf } from "./restores.ts";
import { expectConsistent, snapshotOf } from "./snapshot.ts";

const workflow = workflows["restore-backup"];

let cloud: TestCloud;
let harness: WorkflowHarness;
beforeAll(async () => {
  cloud = await processCloud();
  harness = await workflowHarness(cloud, { seeded: true });
});
afterAll(() => harness.close());

const { api, show, write, contents, changedSince, restore } = restoresOf(() => harness);

/** Taken by the workflow, for tests about that backup. */
async function backUp({ id }: Instance): Promise<Backup> {
  const newBackup = (await (await api()).post(`/instances/${id}/backups`)).as(Backup);
  await harness.me.until(newBackup.operation_id);
  return (await (await api()).get(`/backups/${newBackup.id}`)).as(Backup);
}

test("a restore of database or files alone keeps the other part, and neutralizing turns off outgoing email", async () => {
  const { instance, backup } = await changedSince("running");
  const old = await contents(instance);
  const restored = async (body: object) => {
    expect((await harness.run(workflow, () => restore(backup, { backup_first: false, ...body }))).operation.state).toBe(
      "succeeded",
    );
    return contents(instance);
  };
  const files = await restored({ restore_database: false });
  expect(files.database).toEqual(old.database);
  expect(files.files).not.toEqual(old.files);
  await write(instance.id, OLD);
  const database = await restored({ restore_filestore: false });
  expect(JSON.parse(database.database?.data ?? "")).toEqual(ARCHIVED);
  expect(database.files).toEqual(old.files);
  const neutral = await restored({ neutralize: true });
  expect(neutral.database).toMatchObject({ neutralized: true });
  expect([...(neutral.database?.crons ?? []), ...(neutral.database?.mail_servers ?? [])].filter(({ active }) => active)).toEqual(
    [],
  );
  expect((await show(instance.id)).neutralized).toBe(true);
  await restored({});
  expect((await show(instance.id)).neutralized).toBe(false);
});

test("after a partial restore, the next backups count what is missing and can be restored and cloned", async () => {
  const { instance, backup } = await changedSince("running");
  const { operation } = await harness.run(workflow, () => restore(backup, { restore_filestore: false }));
  expect(operation.state).toBe("succeeded");
  const partial = await contents(instance);
  const next = await backUp(instance);
  expect(next).toMatchObject({ status: "completed", missing_files: 1, skipped_files: 0 });
  const safety = (await (await api()).get(`/backups/${operation.result?.safety_backup_id}`)).as(Backup);
  expect(safety, "before the restore nothing was missing").toMatchObject({ missing_files: 0 });

  await write(instance.id, { note: "written since" });
  expect((await harness.run(workflow, () => restore(next))).operation).toMatchObject({ state: "succeeded", error: null });
  const { database, files } = await contents(instance);
  expect(JSON.parse(database?.data ?? "")).toEqual(ARCHIVED);
  expect(Object.keys(files)).toHaveLength(Object.keys(partial.files).length);
  const body = { name: "Copy", domain: uniqueDomain("copy"), backup_id: next.id };
  const clone = await harness.run(workflows["clone-instance"], async () =>
    (await api()).post(`/instances/${instance.id}/clone`, body),
  );
  expect(clone.operation).toMatchObject({ state: "succeeded", error: null });
});

test("a restore of the files alone keeps those that the present database names", async () => {
  const { instance, backup } = await changedSince("running");
  const before = await contents(instance);
  expect((await harness.run(workflow, () => restore(backup, { restore_database: false }))).operation.state).toBe("succeeded");
  const { database, files } = await contents(instance);
  expect(database).toEqual(before.database);
  expect(files).toMatchObject(before.files);
  expect(Object.keys(files).length).toBeGreaterThan(Object.keys(before.files).length);
  expect(await backUp(instance)).toMatchObject({ missing_files: 0 });
});

type LateWrite = (operation: OperationRecord) => Promise<unknown>;

describe("an abandoned task that writes late", () => {
  /** Runs the operation until its undo ends, with the late write before that and after. */
  async function expectRejected(name: keyof typeof workflows, ask: () => Promise<ApiResponse>, failing: string, late: LateWrite) {
    const rejected: string[] = [];
    const attempt = (operation: OperationRecord) =>
      late(operation).catch((error: unknown) => void rejected.push(error instanceof Error ? error.name : String(error)));
    const { operation } = await harness.run(workflows[name], ask, async ({ task, payload }, next) => {
      if (task === failing) throw new InjectedError("GiveUp");
      if (task === "fail") {
        const present = await findOperation(harness.me.id, payload.input.operation_id);
        if (present !== undefined) await attempt(present);
      }
      return next();
    });
    expect(operation.state).toBe("failed");
    await attempt({ ...operation, state: "running" });
    expect(rejected).toEqual(["ConditionFailed", "ConditionFailed"]);
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  }

  test("an abandoned task that writes late leaves no safety backup, neither during the undo of its restore nor afterwards", async () => {
    const { instance, backup } = await changedSince("running");
    await expectRejected(
      "restore-backup",
      () => restore(backup),
      "makeSafetyBackup",
      async (operation) =>
        reserveSafetyBackup(
          operation,
          await getInstance(harness.me.id, instance.id),
          String(operation.input["safety_backup_id"]),
        ),
    );
  });

  test("an abandoned task that writes late does not complete a safety backup whose archive is being removed", async () => {
    const { instance, backup } = await changedSince("running");
    const { operation } = await harness.run(
      workflow,
      () => restore(backup),
      async ({ task, payload }, next) => {
        const present = await findOperation(harness.me.id, payload.input.operation_id);
        if (present === undefined) throw new Error("The restore is not there");
        const safetyId = String(present.input["safety_backup_id"]);
        if (task === "makeSafetyBackup") {
          await reserveSafetyBackup(present, await getInstance(harness.me.id, instance.id), safetyId);
          throw new InjectedError("GiveUp");
        }
        if (task === "closeSafetyBackup") {
          await markUndoing(present); // as the undo itself does first
          await expect(completeSafetyBackup(present, safetyId)).rejects.toThrow("A condition failed");
        }
        return next();
      },
    );
    expect(operation.state).toBe("failed");
    expectConsistent(await snapshotOf(cloud, harness.me.id));
  });

  test("an abandoned task that writes late does not complete an operation that is being undone", async () => {
    const { instance } = await changedSince("running");
    const client = await api();
    await expectRejected(
      "create-backup",
      () => client.post(`/instances/${instance.id}/backups`, {}),
      "recordArchive",
      (operation) => endOperation(operation, { succeeded: true }),
    );
  });

  test("an abandoned task that writes late gives an instance no new domain, neither during the undo nor afterwards", async () => {
    const { instance } = await changedSince("running");
    const domain = uniqueDomain("late");
    const client = await api();
    await expectRejected(
      "update-instance",
      () => client.put(`/instances/${instance.id}`, { domain }),
      "adoptDomain",
      async (operation) => {
        const change = startChange({ id: harness.me.id });
        adoptDomain(change, operation, await getInstance(harness.me.id, instance.id), domain);
        await change.commit();
      },
    );
    expect((await show(instance.id)).domain).toBe(instance.domain);
  });
});
