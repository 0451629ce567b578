// Restore drills: whether a backup's archive can really be restored, found out by restoring it.
import * as z from "zod";
import { REASONS } from "../domain/reasons.ts";
import { DRILL } from "../domain/lifecycle.ts";
import * as fields from "./fields.ts";

/** The checks of a drill, in the order in which they are made. */
export const DRILL_CHECKS = ["checksum", "restores", "boots", "rows", "files"] as const;

export const DrillCheck = z.object({
  name: z.enum(DRILL_CHECKS).meta({ description: "New checks may appear", examples: ["checksum"] }),
  passed: z
    .boolean()
    .nullable()
    .meta({ description: "null if it could not be made: `detail` says why", examples: [true] }),
  detail: z.string().meta({ description: "For people to read", examples: [REASONS.check_intact] }),
  reason: fields.reason.optional(),
});
export type DrillCheck = z.infer<typeof DrillCheck>;

export const Drill = z
  .object({
    status: z.enum([DRILL.passed, DRILL.failed]).meta({ description: "`failed` if a check failed", examples: ["passed"] }),
    at: fields.timestamp,
    checks: z.array(DrillCheck),
  })
  .meta({ id: "Drill" });
export type Drill = z.infer<typeof Drill>;
