// What the steps of rebooting a server do.
import { isIdle, requestReport, listServing } from "../../../shared/operations/forecasts/server-work.ts";
import { run } from "../../../shared/hosts/index.ts";
import { addResult } from "../../../shared/records/operations.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  awaitQuiet: async ({ server }) => isIdle(await server()),

  rebootHost: async ({ operation, server, jobId }) => {
    const rebooted = await run(await server(), { id: jobId, kind: "reboot_host" });
    if (rebooted.ready) await addResult(operation, rebooted.result);
    return rebooted.ready;
  },

  awaitErps: async ({ server, jobId }) => {
    const record = await server();
    const serving = await listServing(record);
    if (serving === undefined) return false;
    for (const instance_id of serving)
      if (!(await run(record, { id: `${jobId}-${instance_id}`, kind: "check_health", instance_id })).ready) return false;
    await requestReport(record);
    return true;
  },
});
