// What the steps of creating an instance do.
import { dropSealed, takeSealed } from "../../../shared/data/sealed.ts";
import { run, undoUnlessDown } from "../../../shared/hosts/index.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  installErp: async ({ operation, instance, server, jobId }) => {
    const { ready } = await run(await server(), {
      id: jobId,
      kind: "install_erp",
      instance: await instance(),
      database: "fresh",
      admin_password: await takeSealed(operation.account_id, operation.id),
      start: true,
    });
    if (ready) await dropSealed(operation.account_id, operation.id);
    return ready;
  },

  awaitHealthy: async ({ input, server, jobId }) =>
    (await run(await server(), { id: jobId, kind: "check_health", instance_id: input.instance_id })).ready,

  removeErp: async ({ input, server, jobId, stepJobs }) =>
    undoUnlessDown(await server(), { id: jobId, kind: "remove_erp", instance_id: input.instance_id, ends: stepJobs }),
});
