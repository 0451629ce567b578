// GET /sandbox/instances/:id/data
import { erpNotInstalled } from "../../shared/api/errors.ts";
import * as sandbox from "../../shared/api/sandbox.ts";
import { showData } from "../../shared/hosts/sandbox/data.ts";
import { findErp } from "../../shared/providers/sandbox/machines.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { getServer } from "../../shared/records/servers.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(sandbox.getData)(async ({ params, caller }) => {
  const instance = await getInstance(caller.account_id, params.id);
  const { machine_id } = await getServer(caller.account_id, instance.server_id);
  const erp = machine_id === null ? undefined : await findErp(machine_id, instance.id);
  if (erp?.database == null) throw erpNotInstalled(instance.state);
  return showData(erp, erp.database);
});
