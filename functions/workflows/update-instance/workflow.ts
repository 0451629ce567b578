// Moving an instance to a new domain; the old one serves until the new one does.
import * as z from "zod";
import { domain, id } from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { poll, step, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "instance.update",
  access: { keys: ["hosts"] },
  input: z.object({
    account_id: id("account"),
    operation_id: id("operation"),
    instance_id: id("instance"),
    old_domain: domain,
    new_domain: domain,
  }),
  steps: [
    poll("moveDomain", "Switching to the new domain", { undo: "moveDomainBack", upToMinutes: JOB_MINUTES.move_domain }),
    step("adoptDomain", "Saving the new domain"),
  ],
});
