// What opens alerts: thresholds of the account.
import * as z from "zod";
import type { AlertSettings } from "../domain/alerts.ts";
import { endpoint } from "./endpoint.ts";
import * as fields from "./fields.ts";

const wholeNumber = (minimum: number, maximum: number) =>
  z
    .number("must be a whole number")
    .int("must be a whole number")
    .min(minimum, `must be at least ${minimum}`)
    .max(maximum, `must be at most ${maximum}`);
const percent = wholeNumber(1, 99);
const days = wholeNumber(1, 90);

const STEPS_MAX = 3;

/** Stored from the highest to the lowest. */
const steps = (one: typeof percent) =>
  z
    .array(one)
    .min(1, "must contain at least one")
    .max(STEPS_MAX, `must contain at most ${STEPS_MAX}`)
    .refine((all) => new Set(all).size === all.length, "must not contain duplicates")
    .overwrite((all) => all.toSorted((a, b) => b - a))
    .meta({ minItems: 1, maxItems: STEPS_MAX, uniqueItems: true });

const onOrOff = (description: string) => z.boolean("must be a boolean").meta({ description, examples: [true] });

const disk_free_percent = steps(percent)
  .nullable()
  .meta({ description: "Free disk space of a server, in percent: an alert below each step", examples: [[15, 5]] });
const memory_free_percent = steps(percent)
  .nullable()
  .meta({ description: "Free memory of a server, in percent: an alert below each step", examples: [[10]] });
const disk_quota_percent = percent
  .nullable()
  .meta({ description: "What an instance uses of its disk quota, in percent", examples: [90] });
const certificate_days = days
  .nullable()
  .meta({ description: "Days that the certificate of an instance's domain is still valid", examples: [14] });
const error_rate_percent = percent.nullable().meta({
  description: "Requests of an instance that end with an error (5xx), in percent, over 10 minutes and from 20 requests on",
  examples: [5],
});
const down_minutes = wholeNumber(2, 60)
  .nullable()
  .meta({ description: "How long a server or an ERP has not responded", examples: [3] });
const cpu_percent = percent
  .nullable()
  .meta({ description: "Use of a server's processors, in percent, over 30 minutes", examples: [95] });
const backup_overdue = onOrOff("A scheduled backup is overdue");
const drill_failed = onOrOff("A restore drill found that a backup cannot be restored");
const operation_failed = onOrOff("An operation has failed");
const token_expiry_days = steps(days)
  .nullable()
  .meta({ description: "Days before an API token expires: an event `token.expiring` at each step", examples: [[14, 3]] });

export const Settings = z
  .object({
    disk_free_percent,
    memory_free_percent,
    disk_quota_percent,
    certificate_days,
    error_rate_percent,
    down_minutes,
    cpu_percent,
    backup_overdue,
    drill_failed,
    operation_failed,
    token_expiry_days,
  })
  .meta({ id: "AlertSettings" }) satisfies z.ZodType<AlertSettings>;

export const get = () =>
  endpoint({
    method: "GET",
    path: "/settings/alerts",
    summary: "Show what opens alerts",
    description: "Null stands for what is off.",
    access: ["settings:read"],
    unversioned: [],
    data: Settings,
  });

export const update = () =>
  endpoint({
    method: "PUT",
    path: "/settings/alerts",
    summary: "Change what opens alerts",
    description:
      "Fields that you leave out keep their value; null turns one off. Open alerts of thresholds that are no longer set are closed within a minute.",
    access: ["settings:write"],
    unversioned: [],
    body: fields.atLeastOne({
      disk_free_percent: disk_free_percent.optional(),
      memory_free_percent: memory_free_percent.optional(),
      disk_quota_percent: disk_quota_percent.optional(),
      certificate_days: certificate_days.optional(),
      error_rate_percent: error_rate_percent.optional(),
      down_minutes: down_minutes.optional(),
      cpu_percent: cpu_percent.optional(),
      backup_overdue: backup_overdue.nullable().optional(),
      drill_failed: drill_failed.nullable().optional(),
      operation_failed: operation_failed.nullable().optional(),
      token_expiry_days: token_expiry_days.optional(),
    }),
    data: Settings,
  });

export type AlertSettingsUpdate = z.infer<ReturnType<typeof update>["body"]>;
