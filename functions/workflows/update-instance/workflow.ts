// Moving an instance to a new domain; the old one serves until the new one does.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { poll, step, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "instance.update",
  access: { keys: ["hosts", "sealing"] },
  input: z.object({
    account_id: fields.id("account"),
    operation_id: fields.id("operation"),
    instance_id: fields.id("instance"),
    old_domain: fields.domain,
    new_domain: fields.domain,
  }),
  steps: [
    poll("moveDomain", "Switching to the new domain", { undo: "moveDomainBack", upToMinutes: JOB_MINUTES.move_domain }),
    step("adoptDomain", "Saving the new domain"),
  ],
});
