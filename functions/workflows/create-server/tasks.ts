// What the steps of creating a server do.
import { recordMachine } from "../../../shared/data/machines.ts";
import { now } from "../../../shared/data/change.ts";
import { sshKeyRef } from "../../../shared/data/ssh-keys.ts";
import { find } from "../../../shared/data/table.ts";
import { run } from "../../../shared/hosts/index.ts";
import { providerOf } from "../../../shared/providers/index.ts";
import { GiveUp } from "../../../shared/runtime/task-errors.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  requestMachine: async ({ operation, server }) => {
    const { id, account_id, name, region, size, ssh_key_id, ...rest } = await server();
    const key = await find(sshKeyRef(account_id, ssh_key_id));
    if (key === undefined) throw new GiveUp("CANCELLED", "The SSH key was deleted before the machine was made");
    const { machine_id } = await providerOf(rest).requestMachine({
      operation_id: operation.id,
      server_id: id,
      account_id,
      name,
      region,
      size,
      ssh_keys: [key.public_key],
    });
    await recordMachine(await server(), operation.id, { machine_id });
  },

  awaitMachine: async ({ operation, server }) => {
    const present = await server();
    const machine = present.machine_id === null ? undefined : await providerOf(present).findMachine(present.machine_id);
    if (machine === undefined) throw new GiveUp("PROVIDER_ERROR", "The machine vanished at the provider before it ran");
    if (machine.state !== "running" || machine.ip_address === null) return false;
    await recordMachine(present, operation.id, { ip_address: machine.ip_address });
    return true;
  },

  prepareHost: async ({ operation, server, jobId }) => {
    const { ready } = await run(await server(), { id: jobId, kind: "prepare_host" });
    if (ready) await recordMachine(await server(), operation.id, { last_seen_at: now() });
    return ready;
  },

  releaseMachine: async ({ operation, server }) => {
    const { id: server_id, machine_id, ...rest } = await server();
    const { gone } = await providerOf(rest).releaseMachine({ server_id, machine_id });
    if (gone) await recordMachine(await server(), operation.id, { machine_id: null, ip_address: null });
    return gone;
  },
});
