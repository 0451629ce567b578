// A backup policy as it is stored.
import * as z from "zod";
import { BackupPolicy } from "../../api/policy-shown.ts";
import { stored } from "../../data/stored.ts";
import { text, textOrNull, noText, count } from "./fields.ts";

/** A due run of a policy that has not started. */
const DueRun = z.object({
  due_at: text,
  /** 2 if it repeats one that failed. */
  attempt: count,
  /** The time from which it may start. */
  start_at: text,
  /** Since when it is retried because its instance or server is not available; null while it is not. */
  held_since: textOrNull,
  /** Its backup, while it waits for a slot on its server. */
  backup_id: textOrNull,
});

export type DueRun = z.infer<typeof DueRun>;

/** What moving a policy takes, without what is only shown of it: the end of a backup builds no more. */
export const PolicyCore = z.object({
  account_id: text,
  instance_id: text,
  server_id: text,
  enabled: z.boolean(),
  next_run_at: textOrNull,
  /** Changes with each write. */
  revision: text,
  /** The times before it was set or enabled do not count. */
  since: text,
  due: DueRun.nullable(),
  /** Whether a run has completed since retention was last applied. */
  retain: z.boolean(),
  /** The time when its instance becomes overdue, unless a backup is taken; null if it cannot, or is. */
  overdue_at: textOrNull,
  /** The time when the next restore drill is due; null without drills. */
  drill_at: noText,
});

export type PolicyCore = z.infer<typeof PolicyCore>;

export const PolicyRecord = stored(BackupPolicy.omit({ next_runs: true })).extend(PolicyCore.shape);

export type PolicyRecord = z.infer<typeof PolicyRecord>;
