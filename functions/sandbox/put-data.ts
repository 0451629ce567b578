// PUT /sandbox/instances/:id/data
import { dataTooLarge, erpNotInstalled, invalid, invalidState, SANDBOX_DATA_BYTES } from "../../shared/api/errors.ts";
import * as sandbox from "../../shared/api/sandbox.ts";
import { getInstance, requireWritable } from "../../shared/records/instances.ts";
import { showData } from "../../shared/hosts/sandbox/data.ts";
import { writeSandboxData } from "../../shared/providers/sandbox/machines.ts";
import { getServer } from "../../shared/records/servers.ts";
import { buildEtag } from "../../shared/domain/etag.ts";
import { jsonBytes } from "../../shared/domain/json-bytes.ts";
import { type InstanceStatus, WRITABLE } from "../../shared/domain/lifecycle.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(sandbox.putData)(async ({ params, body, caller, matchTag }) => {
  if (jsonBytes(body) > SANDBOX_DATA_BYTES) throw invalid(dataTooLarge());
  const { modules: _, ...data } = body; // what is installed is what a deploy has made of it
  const instance = await getInstance(caller.account_id, params.id);
  const notWritable = (state: InstanceStatus) => invalidState(`The instance is ${state}, so its ERP cannot accept data`, state);
  if (!WRITABLE.includes(instance.state)) throw notWritable(instance.state);
  const { machine_id } = await getServer(caller.account_id, instance.server_id);
  let stored: Record<string, unknown> = data;
  const written =
    machine_id !== null &&
    (await writeSandboxData(
      { machineId: machine_id, instanceId: instance.id },
      data,
      (erp, database) => {
        const current = showData(erp, database);
        matchTag(buildEtag(current)); // A restore that has begun since then must not lose what was written.
        const { modules } = current;
        stored = { ...data, ...(modules !== undefined && { modules }) };
      },
      requireWritable(instance, notWritable),
    ));
  if (!written) throw erpNotInstalled(instance.state);
  return stored;
});
