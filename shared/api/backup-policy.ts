// Backup policies: when an instance is backed up by itself, and which of those backups are kept. An instance has at most one.
import * as z from "zod";
import { exampleId } from "../domain/id-kinds.ts";
import { KEEP_RULES } from "../domain/retention.ts";
import { FIVE_FIELDS, scheduleProblem } from "../domain/schedule.ts";
import { zoneNamed } from "../domain/time-zones.ts";
import { endpoint } from "./endpoint.ts";
import { instanceBeingDeleted } from "./errors.ts";
import { deleted, id, reason, timestamp } from "./fields.ts";

const KEEP_MAX = 1000;
const DRILL_DAYS_MAX = 90;

const SCHEDULE = {
  description:
    "Cron expression with five fields; its runs are at least an hour apart. If it restricts both the day of the month and the weekday, " +
    "it runs on days that match either; if one of these fields begins with `*`, such as `*/5`, on days that match both",
  examples: ["0 2 * * *"],
};
/** What all names of zones look like. */
const ZONE = "^[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*$";
const TIMEZONE = {
  description: "IANA name of the time zone of the schedule and of the retention rules",
  examples: ["Europe/Berlin"],
};

const schedule = z
  .string()
  .max(100, "must have at most 100 characters")
  .overwrite((value) => value.trim().replace(/\s+/g, " "))
  .superRefine((value, context) => {
    const problem = scheduleProblem(value);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  })
  .meta({ ...SCHEDULE, pattern: FIVE_FIELDS.source, maxLength: 100 });

const timezone = z
  .string()
  .max(64, "must have at most 64 characters")
  .refine((name) => zoneNamed(name) !== undefined, "must be the IANA name of a time zone such as Europe/Berlin")
  .overwrite((name) => zoneNamed(name) ?? name)
  .meta({ ...TIMEZONE, pattern: ZONE, maxLength: 64 });

const wholeNumber = (minimum: number, maximum: number) =>
  z
    .number("must be a whole number")
    .int("must be a whole number")
    .min(minimum, `must be at least ${minimum}`)
    .max(maximum, `must be at most ${maximum}`);

const count = wholeNumber(0, KEEP_MAX).optional();

const Keep = z
  .strictObject({ last: count, hourly: count, daily: count, weekly: count, monthly: count, yearly: count })
  .refine((keep) => KEEP_RULES.some((rule) => (keep[rule] ?? 0) > 0), "must keep at least one backup")
  .meta({
    description:
      "How many backups each rule keeps, as `restic forget --keep-*` does: `last` the newest ones, the others the newest of each hour, day, week, month or year",
    examples: [{ daily: 7, weekly: 4, monthly: 12 }],
    minProperties: 1,
  });

const settable = {
  keep: Keep,
  drill_every_days: wholeNumber(1, DRILL_DAYS_MAX)
    .nullable()
    .meta({ description: "Days between restore drills of the newest backup; null for none", examples: [null] }),
  enabled: z.boolean().meta({ examples: [true] }),
};

/** Without the rules of input, whose cron parser is a sixth of a small function. */
const shown = { schedule: z.string().meta(SCHEDULE), timezone: z.string().meta(TIMEZONE), ...settable };
export const PolicyShown = z.object(shown);

/** What a client sets; also the default for new instances. */
export const PolicyFields = z.strictObject({
  schedule,
  timezone: timezone.default("UTC"),
  keep: Keep,
  drill_every_days: settable.drill_every_days.default(null),
  enabled: settable.enabled.default(true),
});
export type PolicyFields = z.output<typeof PolicyFields>;
export const POLICY_FIELDS = Object.keys(PolicyFields.shape);

export const NEXT_RUNS = 5;
const NEVER = "if the policy is disabled, or the ERP was never installed on its instance";

/** When a policy runs next. Not stored: times that have passed would be wrong. */
export const NextRuns = z.object({
  next_run_at: timestamp.nullable().meta({
    description: `When the next run is due; it starts within 15 minutes. Null ${NEVER}`,
    examples: ["2026-11-21T01:00:00.000Z"],
  }),
  next_runs: z.array(timestamp).meta({
    description: `When the next ${NEXT_RUNS} runs are due, \`next_run_at\` first. Empty ${NEVER}`,
    examples: [["2026-11-21T01:00:00.000Z", "2026-11-22T01:00:00.000Z", "2026-11-23T01:00:00.000Z"]],
  }),
});

const RUN_STATUSES = ["completed", "failed", "skipped"] as const;

export const BackupPolicy = z
  .object({
    ...shown,
    ...NextRuns.shape,
    last_run: z
      .object({
        at: timestamp.meta({ description: "When the run was due" }),
        status: z.enum(RUN_STATUSES),
        backup_id: id("backup").nullable(),
        reason: z.string().nullable().meta({ description: "Why there is no backup, for people to read" }),
        reason_details: reason.optional(),
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

const path = "/instances/:id/backup-policy";

export const backupPolicy = {
  get: endpoint({
    method: "GET",
    path,
    summary: "Show an instance's backup policy",
    description: "Strongly consistent. Returns 404 if the instance has no policy.",
    access: ["backups:read"],
    unversioned: POLICY_UNVERSIONED,
    data: BackupPolicy,
  }),
  update: endpoint({
    method: "PUT",
    path,
    summary: "Set an instance's backup policy",
    description:
      "Creates the policy, or replaces it; with `If-None-Match: *` only creates it. Fields that you leave out get their default. If the " +
      "instance has no completed backup yet, the first run starts at once. A run that was due before the change still takes place.",
    access: ["backups:write"],
    unversioned: POLICY_UNVERSIONED,
    errors: [instanceBeingDeleted("deleting")],
    dryRun: true,
    upserts: true,
    body: PolicyFields,
    data: BackupPolicy,
  }),
  delete: endpoint({
    method: "DELETE",
    path,
    summary: "Delete an instance's backup policy",
    errors: [instanceBeingDeleted("deleting")],
    description:
      "No more backups are taken or removed by schedule. The instance's backups are kept, except one that still waits for its turn.",
    access: ["backups:write"],
    data: deleted("instance"),
  }),
};
