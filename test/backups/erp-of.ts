// The ERP of an instance, with its database, as the simulated machine has it.
import { findErp } from "../../shared/providers/sandbox/machines.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { getServer } from "../../shared/records/servers.ts";

export async function erpOf(me: { id: string }, instanceId: string) {
  const { server_id } = await getInstance(me.id, instanceId);
  const erp = await findErp(String((await getServer(me.id, server_id)).machine_id), instanceId);
  if (erp?.database == null) throw new Error("There is no ERP");
  return { ...erp, database: erp.database };
}
