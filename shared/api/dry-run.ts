// What a dry run returns: what the request would do, if it were made now.
import * as z from "zod";
import { exampleId } from "../domain/id-kinds.ts";
import { RESOURCE_TYPES } from "../domain/lifecycle.ts";
import { NextRuns } from "./policy-shown.ts";
import * as fields from "./fields.ts";

const Effect = z.object({
  action: z
    .enum(["create", "update", "delete", "start", "stop", "restart", "restore", "read"])
    .meta({ description: "New actions may appear", examples: ["restore"] }),
  resource: z.object({
    type: z
      .enum([...RESOURCE_TYPES, "backup_policy"])
      .meta({ description: "New types may appear. A backup policy has the ID of its instance", examples: ["instance"] }),
    id: z
      .string()
      .nullable()
      .meta({ description: "null for a resource that would be created", examples: [exampleId("instance")] }),
  }),
  detail: z
    .string()
    .meta({ description: "For people to read", examples: ["Replaces the database and the files with the backup's"] }),
  ...fields.coded("all_replaced"),
});
export type Effect = z.infer<typeof Effect>;

export const DryRun = z
  .object({
    dry_run: z.literal(true).meta({ examples: [true] }),
    allowed: z.literal(true).meta({
      description: "The request would be accepted now. Otherwise the response is the error that the request would get",
      examples: [true],
    }),
    effects: z.array(Effect).meta({ description: "What would change, in order" }),
    downtime_seconds: z
      .number()
      .min(0)
      .nullable()
      .meta({
        description:
          "For how long the ERP would probably not respond, estimated from past operations of the instance; 0 if it is not interrupted, null if unknown",
        examples: [4],
      }),
    disk_bytes: fields
      .integer(0, "Additional disk space that the work would need on the server; null if unknown")
      .min(0)
      .nullable(),
    ...NextRuns.partial().shape,
    warnings: z.array(z.string()).meta({ description: "What you may want to know first, for people to read", examples: [[]] }),
    warning_reasons: z
      .array(z.object(fields.coded("disk_low")))
      .meta({ description: "The same as codes with parameters, in the same order", examples: [[]] }),
  })
  .meta({ id: "DryRun" });
export type DryRun = z.infer<typeof DryRun>;

/** What the service works out for a dry run that is allowed. */
export type Forecast = Omit<DryRun, "dry_run" | "allowed">;
