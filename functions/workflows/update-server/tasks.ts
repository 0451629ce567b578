// What the steps of updating a server's software do.
import { findInstancesOf, isIdle, requestReport } from "../../../shared/operations/forecasts/server-work.ts";
import { run, undoUnlessDown } from "../../../shared/hosts/index.ts";
import { addResult } from "../../../shared/records/operations.ts";
import { jobIdFor, tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  awaitQuiet: async ({ server }) => isIdle(await server()),

  updateHost: async ({ server, jobId }) => (await run(await server(), { id: jobId, kind: "update_host" })).ready,

  updateProxy: async ({ server, jobId }) => (await run(await server(), { id: jobId, kind: "update_proxy" })).ready,

  /** One at a time: the next one begins when the ERP of the one before responds. */
  updateDatabases: async ({ operation, server, jobId }) => {
    const record = await server();
    const instances = await findInstancesOf(record);
    if (instances === undefined) return false;
    let downtime = 0;
    for (const { id: instance_id, installed } of instances) {
      if (!installed) continue;
      const updated = await run(record, { id: `${jobId}-${instance_id}`, kind: "update_database", instance_id });
      if (!updated.ready) return false;
      downtime = Math.max(downtime, updated.result.downtime_seconds ?? 0);
    }
    await addResult(operation, { downtime_seconds: downtime });
    await requestReport(record);
    return true;
  },

  /** What was updated whole stays so: only the one that failed, or was in progress, gets back what it had. */
  putDatabasesBack: async ({ operation, server, jobId }) => {
    const record = await server();
    const instances = await findInstancesOf(record);
    if (instances === undefined) return false;
    const job = jobIdFor(operation, "updateDatabases");
    for (const { id: instance_id } of instances) {
      const undo = { id: `${jobId}-${instance_id}`, kind: "put_database_back", instance_id } as const;
      if (!(await undoUnlessDown(record, { ...undo, ends: [`${job}-${instance_id}`] }))) return false;
    }
    return true;
  },
});
