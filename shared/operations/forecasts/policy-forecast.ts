// What a backup policy will do, for the dry runs of whatever sets one.
import type { PolicyFields } from "../../api/backup-policy.ts";
import type { Effect, Forecast } from "../../api/dry-run.ts";
import { listDays } from "../../domain/cron-days.ts";
import type { Parameters, Sentence, SentenceCode } from "../../domain/sentences.ts";
import type { BackupRecord } from "../../records/schemas/backup.ts";
import type { PolicyRecord } from "../../records/schemas/backup-policy.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import { BACKUP, effect, forecast, INSTANCE, mayRead, NEW_BACKUP, type Reader, sentence } from "./forecast.ts";
import { newestBackup } from "./earlier-operations.ts";
import { isNeverInstalled, listNextRuns } from "../backups/policy-changes.ts";
import { applyRules } from "../backups/policy-runs.ts";

/** What a policy does from now on; `archive_bytes` are those of the newest backup, if there is one that may be read. */
const effectsOfPolicy = (
  instanceId: string | null,
  { schedule, timezone, enabled, drill_every_days }: PolicyFields,
  archive_bytes?: number | null,
): Effect[] => [
  enabled
    ? effect("update", { type: INSTANCE, id: instanceId }, "backups_scheduled", { schedule, timezone })
    : effect("update", { type: INSTANCE, id: instanceId }, "backups_paused"),
  ...(enabled && drill_every_days !== null
    ? [effect("read", NEW_BACKUP, ...drillsEvery(drill_every_days, archive_bytes ?? null))]
    : []),
];

function drillsEvery(days: number, archive_bytes: number | null): [SentenceCode, Parameters] {
  if (archive_bytes === null) return days === 1 ? ["drills_daily", {}] : ["drills_scheduled", { days }];
  return days === 1 ? ["drills_daily_download", { archive_bytes }] : ["drills_scheduled_download", { days, archive_bytes }];
}

const DUE_BACKUP = effect("create", NEW_BACKUP, "backup_due");

/** Those of a new instance's policy. */
export const effectsOfFirst = (policy: PolicyFields | null): Effect[] =>
  policy === null ? [] : [...effectsOfPolicy(null, policy), ...(policy.enabled ? [DUE_BACKUP] : [])];

/** Effects on a backup that waits for its turn, when its policy is removed or stops taking backups. */
export const effectsOnWaiting = (reader: Reader, waiting: BackupRecord | undefined): Effect[] =>
  waiting === undefined || !mayRead(reader, "backup")
    ? []
    : [effect("delete", { type: BACKUP, id: waiting.id }, "waiting_backup_deleted")];

/**
 * What a policy would change: what it will do, and what its rules would remove after the next run. `waiting` is the backup of the
 * present policy that waits for its turn.
 */
export async function forecastPolicy(
  reader: Reader,
  instance: InstanceRecord,
  policy: Omit<PolicyRecord, "revision">,
  waiting: BackupRecord | undefined,
): Promise<Forecast> {
  const { next_run_at } = policy;
  const newest = mayRead(reader, "backup") ? await newestBackup(instance) : undefined;
  const removable = next_run_at === null ? [] : (await applyRules(policy, instance, policy.due?.due_at ?? next_run_at)).removable;
  return forecast(
    [
      ...effectsOfPolicy(instance.id, policy, newest?.size_bytes),
      ...(policy.due?.backup_id === null ? [DUE_BACKUP] : []),
      ...(policy.due === null ? effectsOnWaiting(reader, waiting) : []),
      ...removable.map(({ id, due_at }) =>
        mayRead(reader, "backup")
          ? effect("delete", { type: BACKUP, id }, "backup_not_kept", { due_at })
          : effect("delete", { type: BACKUP, id: null }, "some_backup_not_kept"),
      ),
    ],
    {
      next_run_at,
      next_runs: listNextRuns(policy),
      warnings: [
        ...warnOfDays(policy.schedule),
        ...(isNeverInstalled(instance) && mayRead(reader, "instance") ? [sentence("never_installed")] : []),
      ],
    },
  );
}

/** People rarely expect what cron makes of two restricted fields of days. */
export function warnOfDays(schedule: string): Sentence[] {
  const [, , day = "", , weekday = ""] = schedule.split(" ");
  switch (listDays(schedule)) {
    case "either":
      return [sentence("days_match_either", { day, weekday })];
    case "both":
      return [sentence("days_match_both", { day, weekday })];
    default:
      return [];
  }
}
