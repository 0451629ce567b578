// What the steps of moving an instance to a new domain do.
import { startChange } from "../../../shared/data/change.ts";
import { reclaimDomain, returnDomain } from "../../../shared/operations/work/domain-moves.ts";
import { adoptDomain } from "../../../shared/records/instances.ts";
import { previousDomains, previousDomainsAfter } from "../../../shared/records/redirects.ts";
import { setFailedState } from "../../../shared/records/operations.ts";
import { abandonedState } from "../../../shared/domain/lifecycle.ts";
import { run, runUndo } from "../../../shared/hosts/index.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import workflow from "./workflow.ts";

export const handler = tasks(workflow, {
  moveDomain: async ({ operation, input, instance, server, jobId }) =>
    (
      await run(await server(), {
        id: jobId,
        kind: "move_domain",
        instance_id: input.instance_id,
        domain: input.new_domain,
        redirects: previousDomainsAfter(await instance(), input.new_domain, operation.created_at),
      })
    ).ready,

  adoptDomain: async ({ operation, input, instance }) => {
    const record = await instance();
    if (record.domain === input.new_domain) return; // a second run
    const change = startChange({ id: input.account_id });
    adoptDomain(change, operation, record, input.new_domain);
    await change.commit();
  },

  moveDomainBack: async ({ operation, input, instance, server, jobId, stepJobs }) => {
    const { instance_id, old_domain: domain } = input;
    const domains = { old: domain, new: input.new_domain };
    if (!(await reclaimDomain(await instance(), domains))) return true;
    const redirects = previousDomains(await instance(), domain);
    const job = { id: jobId, kind: "move_domain", instance_id, domain, redirects, ends: stepJobs } as const;
    const progress = await runUndo(await server(), job);
    if (progress !== "down" && !progress.ready) return false;
    await returnDomain(await instance(), domains);
    // Its machine may complete the move all the same. The next start brings back the domain of the record.
    if (progress === "down") await setFailedState(operation, abandonedState(operation.type));
    return true;
  },
});
