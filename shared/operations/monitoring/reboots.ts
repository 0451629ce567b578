// Which servers need a reboot, as they last reported: kept in their records, by which lists are filtered and the overview counts.
import { startChange, tryCommit } from "../../data/change.ts";
import { keys } from "../../data/keys.ts";
import type { HostReport } from "../../records/schemas/host-report.ts";
import type { ServerRecord } from "../../records/schemas/server.ts";

/** Nothing is written as long as that is as it was. */
export async function recordRebootNeeded(
  { account_id, id, needs_reboot: before }: ServerRecord,
  { needs_reboot: after }: HostReport,
): Promise<void> {
  if (after === before) return;
  const change = startChange({ id: account_id });
  change.update(keys.record("server", account_id, id), { set: { needs_reboot: after } }, { unchanged: { needs_reboot: before } });
  change.setFilterFields("server", id, { needs_reboot: before }, { needs_reboot: after });
  if (Boolean(after) !== Boolean(before)) change.countShown("needs_reboot", after === true ? 1 : -1);
  await tryCommit(change); // unless deleted meanwhile, or another check was faster
}
