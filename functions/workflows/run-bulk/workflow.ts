// Running a bulk action: the same action on many resources, each by the code of its own endpoint.
import * as z from "zod";
import * as fields from "../../../shared/api/fields.ts";
import { BULK } from "../../../shared/domain/limits.ts";
import { poll, workflow } from "../../../shared/domain/workflow.ts";

export default workflow({
  operation: "bulk.run",
  access: {
    keys: ["sealing"],
    starts: [
      "start-instance",
      "stop-instance",
      "restart-instance",
      "update-instance",
      "delete-instance",
      "create-backup",
      "delete-backup",
      "drill-backup",
      "deploy-instance",
      "reboot-server",
      "update-server",
    ],
  },
  input: z.object({ account_id: fields.id("account"), operation_id: fields.id("operation") }),
  steps: [
    poll("runItems", "Running the action on each resource", { upToMinutes: (BULK.hours + BULK.lastHours) * 60, unlimited: true }),
  ],
});
