// Rebooting a server's machine: once nothing else runs on it, and until its ERPs respond again.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { SERVER_WORK } from "../../../shared/domain/limits.ts";
import { poll, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "server.reboot",
  access: { keys: ["hosts"], configuration: true },
  input: z.object({ account_id: fields.id("account"), operation_id: fields.id("operation"), server_id: fields.id("server") }),
  steps: [
    poll("awaitQuiet", "Waiting until nothing else runs on the server", {
      upToMinutes: SERVER_WORK.quietMinutes,
      unlimited: true,
    }),
    poll("rebootHost", "Rebooting the machine", { upToMinutes: JOB_MINUTES.reboot_host }),
    poll("awaitErps", "Waiting for the ERPs to respond", { upToMinutes: JOB_MINUTES.check_health }),
  ],
});
