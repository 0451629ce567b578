// What each step of create-instance does, and how it is undone.
import { dropSealed, takeSealed } from "../../../shared/data/sealed.ts";
import { erpSpecOf } from "../../../shared/hosts/index.ts";
import { isHealthy, isRemoved, runJob } from "../../../shared/hosts/jobs.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  installErp: async (work) => {
    const { account_id, id } = work.operation;
    const admin_password = await takeSealed(account_id, id);
    const erp = erpSpecOf(await work.instance());
    if ((await runJob(work, { kind: "install", erp, admin_password, start: true })) === undefined) return false;
    await dropSealed(account_id, id);
    return true;
  },
  awaitHealthy: isHealthy,
  removeErp: async (work) => {
    await dropSealed(work.operation.account_id, work.operation.id);
    return isRemoved(work);
  },
});
