// Checking an instance's code: the commits of its repositories are looked up and fetched, and their modules checked. Nothing of
// them stays or runs. It holds nothing, and what it finds is its result.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { poll, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "instance.check_code",
  access: { keys: ["hosts", "sealing"], configuration: true },
  input: z.object({
    account_id: fields.id("account"),
    operation_id: fields.id("operation"),
    instance_id: fields.id("instance"),
    trust_new_host_keys: z.boolean().default(false), // of operations from before it existed
  }),
  steps: [
    poll("resolveCode", "Looking up the commits", { upToMinutes: JOB_MINUTES.resolve_code }),
    poll("inspectCode", "Fetching and checking the code", { upToMinutes: JOB_MINUTES.fetch_code }),
  ],
});
