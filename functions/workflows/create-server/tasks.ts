// What the steps of creating a server do.
import { closeOrders, recordOrder, recordMachine, recordRequested, reviseOrder } from "../../../shared/records/machines.ts";
import { now } from "../../../shared/data/change.ts";
import type { ServerRecord } from "../../../shared/records/schemas/server.ts";
import { serverRef } from "../../../shared/records/servers.ts";
import { sshKeyRef } from "../../../shared/records/ssh-keys.ts";
import { find } from "../../../shared/data/table.ts";
import { because } from "../../../shared/domain/reasons.ts";
import { run } from "../../../shared/hosts/index.ts";
import { retireMachine } from "../../../shared/hosts/retire.ts";
import { loadProvider } from "../../../shared/providers/index.ts";
import { isRunning, type Provider, type RequestedMachine } from "../../../shared/providers/provider.ts";
import { isSettled, release, createdNothing } from "../../../shared/providers/rented.ts";
import { GiveUp, TryAgain } from "../../../shared/platform/task-errors.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  requestMachine: async ({ operation, server }) => {
    const record = await server();
    if (record.machine_id !== null) return true; // and its host keys may have changed since
    const provider = await loadProvider(record);
    const { id: server_id, account_id, name, region, size } = record;
    const request = { operation_id: operation.id, server_id, account_id, name, region, size };
    // The time before the lookup: the list may miss what was created while the response was on its way.
    const settled = isSettled(provider, record);
    const existingMachine = await provider.findRequested(request);
    if (existingMachine !== undefined) return recordRequested(record, operation.id, existingMachine);
    if (!settled) return false;
    await accountKey(record);
    const order = await provider.prepareOrder(request);
    // The order is recorded before it is sent: a run after a crash, or a concurrent one, then knows that there may be a machine.
    const noted = now();
    if (!(await recordOrder(record, operation.id, noted))) return false;
    const machine = await order().catch(async (error: unknown) => {
      await reviseOrder(record, noted, createdNothing(error) ? record.requested_at : now());
      throw error;
    });
    if (await recordRequested(record, operation.id, { ...machine, requested_at: null })) return true;
    return releaseUnlessRecorded(provider, record, machine);
  },

  awaitMachine: async ({ operation, server }) => {
    const record = await server();
    const { id: server_id, account_id, machine_id } = record;
    if (machine_id === null) throw new GiveUp("PROVIDER_ERROR", VANISHED);
    const provider = await loadProvider(record);
    const settled = isSettled(provider, { requested_at: record.updated_at });
    const machine = await provider.findMachine(machine_id);
    if (machine === undefined && settled) throw new GiveUp("PROVIDER_ERROR", VANISHED);
    if (machine === undefined || !isRunning(machine) || machine.ip_address === null) return false;
    await provider.releaseOthers({ server_id, account_id, machine_id });
    return recordMachine(record, operation.id, { ip_address: machine.ip_address });
  },

  prepareHost: async ({ operation, server, jobId }) => {
    const record = await server();
    const { public_key } = await accountKey(record);
    try {
      const prepared = await run(record, { id: jobId, kind: "prepare_host", ssh_keys: [public_key] });
      if (!prepared.ready) return false;
      const hostKey = prepared.result.host_key;
      if (hostKey !== null) {
        // Both keys are pinned while one replaces the other: whichever the machine shows, the service knows it.
        const host_keys = [...new Set([...record.host_keys, hostKey])];
        await recordMachine(record, operation.id, { host_keys });
        const adopted = await run({ ...record, host_keys }, { id: `${jobId}-adopt`, kind: "adopt_host_key" });
        if (!adopted.ready) return false;
        await recordMachine(record, operation.id, { host_keys: [hostKey] });
      }
    } catch (error) {
      if (!(error instanceof TryAgain) || error.code !== "HOST_UNREACHABLE") throw error;
      return false; // it runs, but its SSH server is still starting; the poll's end is the limit
    }
    return true;
  },

  releaseMachine: async ({ operation, server, jobId, stepJobs }) => {
    const record = await closeOrders(await server(), operation.id);
    if (record === undefined) return true;
    if (!(await retireMachine(record, { id: jobId, ends: stepJobs, since: record.orders_closed_at }))) return false;
    const isReleased = await release(record);
    if (isReleased) await recordMachine(record, operation.id, { machine_id: null, requested_at: null, ip_address: null });
    return isReleased;
  },
});

const VANISHED = because("machine_vanished");

/** A response that came so late that another run has recorded a machine, or that the creation was abandoned. */
async function releaseUnlessRecorded(provider: Provider, server: ServerRecord, { machine_id }: RequestedMachine): Promise<true> {
  const { id: server_id, account_id } = server;
  const record = await find(serverRef(account_id, server_id));
  if (record !== undefined && record.machine_id !== null) return true; // of two machines, the next step deletes the other one
  await provider.releaseMachine({ server_id, account_id, machine_id });
  throw new GiveUp("CANCELLED", because("creation_abandoned"));
}

async function accountKey({ account_id, ssh_key_id }: ServerRecord): Promise<{ public_key: string }> {
  const key = await find(sshKeyRef(account_id, ssh_key_id));
  if (key === undefined) throw new GiveUp("CANCELLED", because("ssh_key_deleted"));
  return key;
}
