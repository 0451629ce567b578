// Updating a server's own software: its system's packages, the proxy, and one after the other the instances' database servers.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { SERVER_WORK } from "../../../shared/domain/limits.ts";
import { poll, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "server.update",
  access: { keys: ["hosts"], configuration: true },
  input: z.object({ account_id: fields.id("account"), operation_id: fields.id("operation"), server_id: fields.id("server") }),
  steps: [
    poll("awaitQuiet", "Waiting until nothing else runs on the server", {
      upToMinutes: SERVER_WORK.quietMinutes,
      unlimited: true,
    }),
    poll("updateHost", "Updating the system's packages", { upToMinutes: JOB_MINUTES.update_host }),
    poll("updateProxy", "Updating the proxy", { upToMinutes: JOB_MINUTES.update_proxy }),
    poll("updateDatabases", "Updating the database servers", {
      undo: "putDatabasesBack",
      upToMinutes: SERVER_WORK.databasesMinutes,
    }),
  ],
});
