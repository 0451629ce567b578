// What each step of update-instance does, and how it is undone.
import { changeOf } from "../../../shared/data/change.ts";
import { adoptDomain, releaseDomain } from "../../../shared/data/instances.ts";
import { runJob } from "../../../shared/hosts/jobs.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  moveDomain: async (work) => {
    const { instance_id, new_domain } = work.input;
    return (await runJob(work, { kind: "move_domain", instance_id, domain: new_domain })) !== undefined;
  },

  adoptDomain: async (work) => {
    const instance = await work.instance();
    const change = changeOf({ id: instance.account_id });
    adoptDomain(change, instance, work.input.new_domain);
    await change.commit();
  },

  moveDomainBack: async (work) => {
    const instance = await work.instance();
    const { instance_id, old_domain, new_domain } = work.input;
    if (instance.domain === new_domain) return true; // it is adopted: there is nothing to go back to
    if ((await runJob(work, { kind: "move_domain", instance_id, domain: old_domain })) === undefined) return false;
    await releaseDomain(instance, new_domain);
    return true;
  },
});
