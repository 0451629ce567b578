// Backup policies: when an instance is backed up by itself, and which of those backups are kept. An instance has at most one.
import * as z from "zod";
import { FIVE_FIELDS, scheduleProblem } from "../domain/schedule.ts";
import { zoneNamed } from "../domain/time-zones.ts";
import { endpoint } from "./endpoint.ts";
import { instanceBeingDeleted } from "./errors.ts";
import * as fields from "./fields.ts";
import { BackupPolicy, Keep, POLICY_UNVERSIONED, SCHEDULE, settable, TIMEZONE } from "./policy-shown.ts";

/** What all names of zones look like. */
const ZONE = "^[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*$";
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

const path = "/instances/:id/backup-policy";

export const get = () =>
  endpoint({
    method: "GET",
    path,
    summary: "Show an instance's backup policy",
    description: "Strongly consistent. Returns 404 if the instance has no policy.",
    access: ["backups:read"],
    unversioned: POLICY_UNVERSIONED,
    data: BackupPolicy,
  });

export const update = () =>
  endpoint({
    method: "PUT",
    path,
    summary: "Set an instance's backup policy",
    description:
      "Creates the policy, or replaces it; with `If-None-Match: *` only creates it. Fields that you leave out get their default. If the " +
      "instance has no completed backup yet, the first run starts at once. A run that was due before the change still takes place.",
    access: ["backups:write"],
    unversioned: POLICY_UNVERSIONED,
    errors: () => [instanceBeingDeleted("deleting")],
    dryRun: true,
    upserts: true,
    body: PolicyFields,
    data: BackupPolicy,
  });

const deleteOne = () =>
  endpoint({
    method: "DELETE",
    path,
    summary: "Delete an instance's backup policy",
    errors: () => [instanceBeingDeleted("deleting")],
    description:
      "No more backups are taken or removed by schedule. The instance's backups are kept, except one that still waits for its turn.",
    access: ["backups:write"],
    data: fields.deleted("instance"),
  });
export { deleteOne as delete };
