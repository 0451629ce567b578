// The instances of a harness's account and their simulated ERPs, through the API and behind it.
import { expect } from "vitest";
import { Instance } from "../../shared/api/instances.ts";
import { getServer } from "../../shared/records/servers.ts";
import { findErp, type SandboxErp } from "../../shared/providers/sandbox/machines.ts";
import type { Client } from "../harness/client.ts";
import type { WorkflowHarness } from "./harness.ts";

/** `harness` is called each time, because it is created before all tests of a file. */
export function erpsOf(harness: () => WorkflowHarness) {
  const api = async (): Promise<Client> => (await harness().me.token()).api;
  const show = async (id: string) => (await (await api()).get(`/instances/${id}`)).as(Instance);
  const write = async (id: string, data: unknown): Promise<void> =>
    expect((await (await api()).put(`/sandbox/instances/${id}/data`, data)).status).toBe(200);
  async function erpOf({ id, server_id }: Instance): Promise<SandboxErp> {
    const { machine_id } = await getServer(harness().me.id, server_id);
    const erp = await findErp(machine_id ?? "", id);
    if (erp === undefined) throw new Error(`${id} has no ERP`);
    return erp;
  }
  return { api, show, write, erpOf };
}
