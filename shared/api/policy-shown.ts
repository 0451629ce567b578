// Backup policies as responses and records show them: without the rules of input, whose cron parser is a sixth of a small
// function.
import * as z from "zod";
import { exampleId } from "../domain/id-kinds.ts";
import { KEEP_RULES } from "../domain/retention.ts";
import * as fields from "./fields.ts";

const KEEP_MAX = 1000;
const DRILL_DAYS_MAX = 90;

export const SCHEDULE = {
  description:
    "Cron expression with five fields; its runs are at least an hour apart. If it restricts both the day of the month and the weekday, " +
    "it runs on days that match either; if one of these fields begins with `*`, such as `*/5`, on days that match both",
  examples: ["0 2 * * *"],
};
export const TIMEZONE = {
  description: "IANA name of the time zone of the schedule and of the retention rules",
  examples: ["Europe/Berlin"],
};

const wholeNumber = (minimum: number, maximum: number) =>
  z
    .number("must be a whole number")
    .int("must be a whole number")
    .min(minimum, `must be at least ${minimum}`)
    .max(maximum, `must be at most ${maximum}`);

const count = wholeNumber(0, KEEP_MAX).optional();

export const Keep = z
  .strictObject({ last: count, hourly: count, daily: count, weekly: count, monthly: count, yearly: count })
  .refine((keep) => KEEP_RULES.some((rule) => (keep[rule] ?? 0) > 0), "must keep at least one backup")
  .meta({
    description:
      "How many backups each rule keeps, as `restic forget --keep-*` does: `last` the newest ones, the others the newest of each hour, day, week, month or year",
    examples: [{ daily: 7, weekly: 4, monthly: 12 }],
    minProperties: 1,
  });

export const settable = {
  keep: Keep,
  drill_every_days: wholeNumber(1, DRILL_DAYS_MAX)
    .nullable()
    .meta({ description: "Days between restore drills of the newest backup; null for none", examples: [null] }),
  enabled: z.boolean().meta({ examples: [true] }),
};

const policyFields = { schedule: z.string().meta(SCHEDULE), timezone: z.string().meta(TIMEZONE), ...settable };
export const PolicyShown = z.object(policyFields);

export const NEXT_RUNS = 5;
const NEVER = "if the policy is disabled, or the ERP was never installed on its instance";

/** The next runs of a policy. They are not stored: times that have passed would be wrong. */
export const NextRuns = z.object({
  next_run_at: fields.timestamp.nullable().meta({
    description: `When the next run is due; it starts within 15 minutes. Null ${NEVER}`,
    examples: ["2026-11-21T01:00:00.000Z"],
  }),
  next_runs: z.array(fields.timestamp).meta({
    description: `When the next ${NEXT_RUNS} runs are due, \`next_run_at\` first. Empty ${NEVER}`,
    examples: [["2026-11-21T01:00:00.000Z", "2026-11-22T01:00:00.000Z", "2026-11-23T01:00:00.000Z"]],
  }),
});

const RUN_STATUSES = ["completed", "failed", "skipped"] as const;

export const BackupPolicy = z
  .object({
    ...policyFields,
    ...NextRuns.shape,
    last_run: z
      .object({
        at: fields.timestamp.meta({ description: "When the run was due" }),
        status: z.enum(RUN_STATUSES),
        backup_id: fields.id("backup").nullable(),
        reason: z.string().nullable().meta({ description: "Why there is no backup, for people to read" }),
        reason_details: fields.reason.optional(),
      })
      .nullable()
      .meta({
        description: "The last run that ended: its backup, or why there is none",
        examples: [{ at: "2026-11-20T01:00:00.000Z", status: "completed", backup_id: exampleId("backup"), reason: null }],
      }),
  })
  .meta({ id: "BackupPolicy" });
export type BackupPolicy = z.infer<typeof BackupPolicy>;

/** Fields that runs move. */
export const POLICY_UNVERSIONED = ["next_run_at", "next_runs", "last_run"];
