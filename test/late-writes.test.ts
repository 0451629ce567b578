// Writes that decide by what was read earlier: at the moment of the write it must still hold.
import { beforeAll, expect, test } from "vitest";
import { getAccount, setSettings } from "../shared/records/accounts.ts";
import { getBackup, recordArchive } from "../shared/records/backups.ts";
import { startChange } from "../shared/data/change.ts";
import { getInstance, recordNeutralized, requireWritable } from "../shared/records/instances.ts";
import { keys } from "../shared/data/keys.ts";
import { addResult, findOperation, reserveOperation } from "../shared/records/operations.ts";
import { endOperation } from "../shared/operations/work/operation-ends.ts";
import type { OperationRecord } from "../shared/records/schemas/operation.ts";
import { findErp, writeSandboxData } from "../shared/providers/sandbox/machines.ts";
import { getServer, moveServerToDeleting, requireServerReady } from "../shared/records/servers.ts";
import { updateOne } from "../shared/data/table.ts";
import { newId } from "../shared/domain/ids.ts";
import { account, type TestAccount, unusedId } from "./harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "./harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
});

async function openOperation(): Promise<OperationRecord> {
  const server = await getServer(me.id, (await seedServer(me.id)).id);
  const change = startChange(await getAccount(me.id));
  const id = newId("operation");
  moveServerToDeleting(change, server, id);
  const resource = { type: "server" as const, id: server.id, name: server.name };
  const operation = reserveOperation(
    change,
    { operator: "test", requestId: "test" },
    { id, type: "server.delete", resource, before: server.state },
  );
  await change.commit();
  return operation;
}

test("two tasks that add to the result of an operation as they both read it are both kept", async () => {
  const operation = await openOperation();
  await Promise.all([addResult(operation, { host_skipped: true }), addResult(operation, { downtime_seconds: 3 })]);
  const backup_id = newId("backup");
  await addResult(operation, { backup_id });
  expect((await findOperation(me.id, operation.id))?.result).toEqual({ host_skipped: true, downtime_seconds: 3, backup_id });
});

test("a result is not added to an operation that has ended", async () => {
  const operation = await openOperation();
  await endOperation(operation, { succeeded: false, error: { code: "INTERNAL_ERROR", message: "It failed", reason: null } });
  await addResult(operation, { host_skipped: true });
  expect((await findOperation(me.id, operation.id))?.result).toEqual(operation.result);
});

test("of two changes of the default provider and region, decided by the same settings, the second fails", async () => {
  const other = await account();
  const settings = await getAccount(other.id);
  const set = async (fields: Parameters<typeof setSettings>[2]): Promise<void> => {
    const change = startChange({ id: other.id });
    setSettings(change, settings, fields);
    await change.commit();
  };
  await set({ default_provider: "sandbox" });
  await set({ account_name: "Renamed" });
  for (const default_region of ["eu-west", null])
    await expect(set({ default_region })).rejects.toThrow("changed the settings at the same time");
  expect(await getAccount(other.id)).toMatchObject({ default_provider: "sandbox", default_region: null });
});

test("a server that is deleted between the read and the write is a mistake in the field that names it", async () => {
  const change = startChange({ id: me.id });
  requireServerReady(change, unusedId("server"));
  await expect(change.commit()).rejects.toMatchObject({ code: "VALIDATION_ERROR", details: { field: "server_id" } });
});

test("a late task does not write to a backup that has failed", async () => {
  const backup = await seedBackup(await seedInstance(me.id), { state: "failed" });
  const archive = {
    size_bytes: 1,
    sha256: "0".repeat(64),
    stored_checksum: "x",
    missing_files: 0,
    listed_files: 0,
    skipped_files: 0,
  };
  await expect(recordArchive(await openOperation(), backup.id, archive)).rejects.toThrow("A condition failed");
  expect((await getBackup(me.id, backup.id)).size_bytes).toBe(backup.size_bytes);
});

test("a late task does not say that an instance is neutralized", async () => {
  const instance = await seedInstance(me.id);
  await recordNeutralized(instance, await openOperation(), true);
  expect((await getInstance(me.id, instance.id)).neutralized).toBe(instance.neutralized);
});

test("data that was sent before a restore began is rejected once it has begun", async () => {
  const { id, server_id } = await me.instance();
  const machineId = (await getServer(me.id, server_id)).machine_id ?? "";
  const read = await getInstance(me.id, id);
  const write = (data: Record<string, unknown>) =>
    writeSandboxData(
      { machineId: machineId, instanceId: id },
      data,
      () => undefined,
      requireWritable(read, (state) => new Error(`The instance is ${state}`)),
    );
  expect(await write({ orders: 1 })).toBe(true);
  await updateOne(keys.record("instance", me.id, id), { set: { state: "restoring" } }, {});
  await expect(write({ orders: 2 })).rejects.toThrow("The instance is restoring");
  expect(JSON.parse((await findErp(machineId, id))?.database?.data ?? "")).toEqual({ orders: 1 });
});
