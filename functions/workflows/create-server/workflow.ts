// Creating a server: rent the machine, wait until it runs, prepare it for instances.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { poll, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "server.create",
  access: { keys: ["hosts"], configuration: true },
  input: z.object({ account_id: fields.id("account"), operation_id: fields.id("operation"), server_id: fields.id("server") }),
  steps: [
    // A provider may ask us to wait, and a try with an unknown outcome takes time to show.
    poll("requestMachine", "Creating the machine at the provider", { upToMinutes: 15, undo: "releaseMachine" }),
    poll("awaitMachine", "Waiting for the machine to start", { upToMinutes: 20, firstWaitSeconds: 5 }),
    poll("prepareHost", "Setting up the machine", { upToMinutes: JOB_MINUTES.prepare_host, firstWaitSeconds: 10 }),
  ],
});
