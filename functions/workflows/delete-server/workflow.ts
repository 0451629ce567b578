// Deleting a server: clear the machine, give it back to the provider, and wait until it is gone.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { poll, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "server.delete",
  access: { keys: ["hosts"], configuration: true },
  input: z.object({ account_id: fields.id("account"), operation_id: fields.id("operation"), server_id: fields.id("server") }),
  steps: [
    poll("retireHost", "Clearing the machine's data", { upToMinutes: JOB_MINUTES.retire_host }),
    poll("releaseMachine", "Returning the machine to the provider", { upToMinutes: 15 }),
  ],
});
