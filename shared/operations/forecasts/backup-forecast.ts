// What a drill, a restore and the deletion of a backup would do, for their dry runs.
import type { Effect, Forecast } from "../../api/dry-run.ts";
import { keys, keyString } from "../../data/keys.ts";
import { find, readAll } from "../../data/table.ts";
import { SERVING } from "../../domain/lifecycle.ts";
import type { Sentence } from "../../domain/sentences.ts";
import { findBackupCode } from "../../records/backup-code.ts";
import { BackupRecord } from "../../records/schemas/backup.ts";
import { CodeRecord, type CommitRecord } from "../../records/schemas/code.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import { BACKUP, effect, forecast, INSTANCE, mayRead, NEW_BACKUP, type Reader, sentence } from "./forecast.ts";
import { listSucceeded, newestBackup, someCompleted } from "./earlier-operations.ts";
import { diskWarnings } from "./room-forecast.ts";

export interface Parts {
  restore_database: boolean;
  restore_filestore: boolean;
}

export type PartsName = "all" | "database" | "files";

export const nameParts = ({ restore_database, restore_filestore }: Parts): PartsName =>
  restore_database && restore_filestore ? "all" : restore_database ? "database" : "files";

export const readsArchive = (reader: Reader, { id, size_bytes }: BackupRecord): Effect =>
  size_bytes !== null && mayRead(reader, "backup")
    ? effect("read", { type: BACKUP, id }, "archive_downloaded", { archive_bytes: size_bytes })
    : effect("read", { type: BACKUP, id }, "archive_read");

/** Warnings about modules that the last compared image lacks; another server's image may be newer. */
export const moduleWarnings = (reader: Reader, { missing_modules }: BackupRecord, { restore_database }: Parts): Sentence[] =>
  restore_database && missing_modules !== null && missing_modules.length > 0 && mayRead(reader, "backup")
    ? [sentence("modules_missing", { modules: missing_modules.join(", ") })]
    : [];

/** What at least is put on the disk: nobody knows how large one part of an archive is. */
export const estimateBytes = ({ size_bytes }: BackupRecord, { restore_database, restore_filestore }: Parts): number =>
  restore_database && restore_filestore ? (size_bytes ?? 0) : 0;

interface Restore extends Parts {
  neutralize: boolean;
  backup_first: boolean;
}

export async function forecastRestore(
  reader: Reader,
  instance: InstanceRecord,
  backup: BackupRecord,
  restore: Restore,
): Promise<Forecast> {
  const { neutralize, backup_first } = restore;
  const parts = nameParts(restore);
  return forecast(
    [
      effect(
        "restore",
        { type: INSTANCE, id: instance.id },
        parts === "files" ? "files_replaced" : neutralize ? `${parts}_replaced_neutralized` : `${parts}_replaced`,
      ),
      ...(backup_first ? [effect("create", NEW_BACKUP, "safety_backup_taken")] : []),
      readsArchive(reader, backup),
    ],
    {
      downtime_seconds: !mayRead(reader, "instance")
        ? null
        : !SERVING.includes(instance.state)
          ? 0
          : mayRead(reader, "backup")
            ? await downtimeOfRestore(instance, restore)
            : null,
      disk_bytes: null,
      warnings: [
        ...(backup_first ? [] : [sentence(restore.restore_database ? "data_not_recoverable" : "files_not_recoverable")]),
        ...moduleWarnings(reader, backup, restore),
        ...(await codeWarnings(reader, instance, backup, restore)),
        ...(await diskWarnings(reader, instance.account_id, instance.server_id, estimateBytes(backup, restore))),
      ],
    },
  );
}

/** A restore into its own instance leaves the code as it is. */
async function codeWarnings(
  reader: Reader,
  { account_id, id }: InstanceRecord,
  backup: BackupRecord,
  { restore_database }: Parts,
): Promise<Sentence[]> {
  if (!restore_database || !mayRead(reader, "backup") || !mayRead(reader, "instance")) return [];
  const [then, current] = await Promise.all([
    findBackupCode(backup),
    find({ key: keys.code(account_id, id), schema: CodeRecord }).then((record) => record?.deployed),
  ]);
  const [before, now] = [describeCode(then), describeCode(current)];
  const [other, added] = [before.filter((each) => !now.includes(each)), now.filter((each) => !before.includes(each))];
  if (other.length > 0) return [sentence("restore_code_differs", { code: other.join(", ") })];
  return added.length > 0 ? [sentence("restore_code_added", { code: added.join(", ") })] : [];
}

/** Each commit and each package. */
const describeCode = (code: { commits: CommitRecord[]; python_packages?: string[] | undefined } | null | undefined): string[] =>
  code == null
    ? []
    : [
        ...code.commits.map(({ url, path, commit }) => [url, path ?? [], commit].flat().join(" ")),
        ...(code.python_packages ?? []),
      ];

/**
 * The last restore of the same parts. The ERP is away for the safety backup and the swap, not while the restored data is built;
 * so it is longer if the instance has grown since, as its backups show.
 */
async function downtimeOfRestore(instance: InstanceRecord, restore: Restore): Promise<number | null> {
  const same = (await listSucceeded(instance, "backup.restore")).filter(({ input }) =>
    (["restore_database", "restore_filestore", "backup_first"] as const).every((part) => input[part] === restore[part]),
  );
  const last = same.find(({ result }) => result?.downtime_seconds !== undefined)?.result;
  if (last?.downtime_seconds === undefined) return null;
  if (last.safety_backup_id === undefined) return last.downtime_seconds;
  const key = keys.record("backup", instance.account_id, last.safety_backup_id);
  const [then, now] = await Promise.all([readAll([key]), newestBackup(instance)]);
  const before = BackupRecord.safeParse(then.get(keyString(key))).data?.size_bytes ?? 0;
  const growth = before > 0 ? Math.max(1, (now?.size_bytes ?? 0) / before) : 1;
  return Math.ceil(last.downtime_seconds * growth);
}

export const forecastDrill = async (reader: Reader, backup: BackupRecord, serverId: string): Promise<Forecast> =>
  forecast([effect("update", { type: BACKUP, id: backup.id }, "backup_drilled"), readsArchive(reader, backup)], {
    disk_bytes: null,
    warnings: await diskWarnings(reader, backup.account_id, serverId, backup.size_bytes ?? 0),
  });

export async function forecastBackupDeletion(reader: Reader, backup: BackupRecord): Promise<Forecast> {
  const completed =
    backup.instance_id === null || !mayRead(reader, "backup") ? [] : await someCompleted(backup.account_id, backup.instance_id);
  const isLast = completed.length === 1 && completed[0]?.id === backup.id;
  return forecast([effect("delete", { type: BACKUP, id: backup.id }, "backup_deleted")], {
    warnings: isLast ? [sentence("last_backup")] : [],
  });
}
