// GET /instances/:id/logs
import { setTimeout as sleep } from "node:timers/promises";
import { erpNotInstalled, serverNotActive } from "../../shared/api/errors.ts";
import * as instanceLogs from "../../shared/api/instance-logs.ts";
import { hasFailedOn } from "../../shared/data/table.ts";
import { serverStatus, USABLE } from "../../shared/domain/lifecycle.ts";
import { lastReadingRef, buildReadingUpdate, withinLogLimits } from "../../shared/operations/monitoring/log-reads.ts";
import { logEvent } from "../../shared/records/events.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { getServer } from "../../shared/records/servers.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle, requirePermission } from "../../shared/runtime/handle.ts";
import { readLog } from "../../shared/runtime/read-log.ts";
import { withWaitSlot } from "../../shared/runtime/waiting.ts";

const NOTHING = { lines: [], truncated: false, next: "" };

/** Between two looks at a log that is followed: each signs in to the server. */
const LOOK_SECONDS = 4;

export const handler = handle(instanceLogs.logs)(({ params, query: { follow, ...reading }, caller, by, read, commit, isHead }) =>
  withWaitSlot(caller, follow, async (seconds) => {
    const { account_id } = caller;
    if (reading.source === "database") requirePermission(caller, "backups:restore");
    const instance = await getInstance(account_id, params.id);
    const server = await getServer(account_id, instance.server_id);
    if (!USABLE.includes(server.state)) throw serverNotActive(server.id, serverStatus(server.state));
    if (!instance.installed) throw erpNotInstalled(instance.state);
    if (isHead) return NOTHING;
    return withinLogLimits(instance, async () => {
      const ref = lastReadingRef(caller, instance.id);
      const note = await buildReadingUpdate(ref);
      if (note !== undefined) {
        const { change } = await beginChange({ caller, read }, {});
        change.update(ref.key, { set: note.set }, note.where);
        logEvent(change, by, "instance.logs_read", { type: "instance", id: instance.id, name: instance.name });
        await commit(change, NOTHING).catch((error: unknown) => {
          // Another request of the credential has recorded it in this moment. There is no reading without its audit event.
          if (!hasFailedOn(ref.key, error)) throw error;
        });
      }
      const { id, machine_id, ip_address, ssh_port, host_keys } = server;
      const readOnce = async (after = reading.after) => {
        const { installed, ...excerpt } = await readLog({
          account_id,
          server: { id, machine_id, ip_address, ssh_port, host_keys },
          instance_id: instance.id,
          operation_id: instance.operation_id,
          ...reading,
          after,
        });
        if (!installed) throw erpNotInstalled(instance.state);
        return excerpt;
      };
      const until = Date.now() + seconds * 1000;
      let excerpt = await readOnce();
      while (excerpt.lines.length === 0 && Date.now() + LOOK_SECONDS * 1000 <= until) {
        await sleep(LOOK_SECONDS * 1000);
        excerpt = await readOnce(excerpt.next);
      }
      return excerpt;
    });
  }),
);
