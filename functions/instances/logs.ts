// GET /instances/:id/logs
import { erpNotInstalled, serverNotActive } from "../../shared/api/errors.ts";
import * as instances from "../../shared/api/instances.ts";
import { serverStatus, USABLE } from "../../shared/domain/lifecycle.ts";
import { notedRef, noteReading, withinLogLimits } from "../../shared/operations/log-reads.ts";
import { logEvent } from "../../shared/records/events.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { getServer } from "../../shared/records/servers.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { readLog } from "../../shared/runtime/read-log.ts";

/** Another request of the credential has noted it in this moment, which is as good. */
const NOTED = new Error("The reading of the logs is noted already");
const NOTHING = { lines: [], truncated: false };

export const handler = handle(instances.logs)(async ({ params, query, caller, by, read, commit, isHead }) => {
  const { account_id } = caller;
  const instance = await getInstance(account_id, params.id);
  const server = await getServer(account_id, instance.server_id);
  if (!USABLE.includes(server.state)) throw serverNotActive(server.id, serverStatus(server.state));
  if (!instance.installed) throw erpNotInstalled(instance.state);
  if (isHead) return NOTHING;
  return withinLogLimits(instance, async () => {
    const ref = notedRef(caller, instance.id);
    const note = await noteReading(ref);
    if (note !== undefined) {
      const { change } = await beginChange({ caller, read }, {});
      change.update(ref.key, { set: note.set }, note.where, () => NOTED);
      logEvent(change, by, "instance.logs_read", { type: "instance", id: instance.id, name: instance.name });
      await commit(change, NOTHING).catch((error: unknown) => {
        if (error !== NOTED) throw error; // no reading without its entry in the audit log
      });
    }
    const { id, machine_id, ip_address, ssh_port, host_keys } = server;
    const { installed, ...found } = await readLog({
      account_id,
      server: { id, machine_id, ip_address, ssh_port, host_keys },
      instance_id: instance.id,
      operation_id: instance.operation_id,
      ...query,
    });
    if (!installed) throw erpNotInstalled(instance.state);
    return found;
  });
});
