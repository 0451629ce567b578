// What each step of create-server does, and how it is undone.
import { recordMachine } from "../../../shared/data/servers.ts";
import { findSshKey } from "../../../shared/data/ssh-keys.ts";
import { now } from "../../../shared/data/change.ts";
import { hostOf } from "../../../shared/hosts/index.ts";
import { providerOf } from "../../../shared/providers/index.ts";
import { GiveUp } from "../../../shared/runtime/task-errors.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  requestMachine: async (work) => {
    const server = await work.server();
    const { id, account_id, name, region, size, ssh_key_id } = server;
    const key = await findSshKey(account_id, ssh_key_id); // it may have been deleted since: the server is made all the same
    const ssh_keys = key === undefined ? [] : [key.public_key];
    const order = { operation_id: work.operation.id, server_id: id, account_id, name, region, size, ssh_keys };
    await recordMachine(server, await providerOf(server).requestMachine(order));
  },

  awaitMachine: async (work) => {
    const server = await work.server();
    const machine = server.machine_id === null ? undefined : await providerOf(server).findMachine(server.machine_id);
    if (machine === undefined) throw new GiveUp("PROVIDER_ERROR", "The provider accepted the machine, but has it no more");
    if (machine.state !== "running" || machine.ip_address === null) return false;
    await recordMachine(server, { ip_address: machine.ip_address });
    return true;
  },

  prepareHost: async (work) => {
    const server = await work.server();
    if ((await hostOf(server).run(server, work.jobId, { kind: "prepare" })) === undefined) return false;
    await recordMachine(server, { last_seen_at: now() });
    return true;
  },

  releaseMachine: async (work) => {
    const server = await work.server();
    const { gone } = await providerOf(server).releaseMachine({ server_id: server.id, machine_id: server.machine_id });
    if (gone) await recordMachine(server, { machine_id: null, ip_address: null });
    return gone;
  },
});
