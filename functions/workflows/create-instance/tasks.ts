// What the steps of creating an instance do.
import { removeSealed, readSealed } from "../../../shared/data/sealed.ts";
import { isHealthy, run, undoUnlessDown } from "../../../shared/hosts/index.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  installErp: async ({ operation, instance, server, jobId }) => {
    const { ready } = await run(await server(), {
      id: jobId,
      kind: "install_erp",
      instance: await instance(),
      database: "fresh",
      admin_password: await readSealed(operation.account_id, operation.id),
      start: true,
    });
    if (ready) await removeSealed(operation.account_id, operation.id);
    return ready;
  },

  awaitHealthy: async ({ operation, input, server, jobId }) =>
    isHealthy(await server(), { operation, instance: { id: input.instance_id }, jobId }),

  removeErp: async ({ input, server, jobId, stepJobs }) =>
    undoUnlessDown(await server(), { id: jobId, kind: "remove_erp", instance_id: input.instance_id, ends: stepJobs }),
});
