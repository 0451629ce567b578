// What an instance that is made from a backup would be, for the dry runs of clones and creations.
import type { PolicyFields } from "../../api/backup-policy.ts";
import type { Effect, Forecast } from "../../api/dry-run.ts";
import type { SentenceCode } from "../../domain/sentences.ts";
import { findBackupCode } from "../../records/backup-code.ts";
import type { BackupRecord } from "../../records/schemas/backup.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import { estimateBytes, moduleWarnings, nameParts, type Parts, type PartsName, readsArchive } from "./backup-forecast.ts";
import { effect, forecast, mayRead, NEW_INSTANCE, type Reader, sentence } from "./forecast.ts";
import { effectsOfFirst } from "./policy-forecast.ts";
import { diskWarnings, memoryWarnings } from "./room-forecast.ts";

const NAMED_CLONE = {
  all: "erp_installed_from_backup",
  database: "erp_installed_from_database",
  files: "erp_installed_from_files",
} as const satisfies Record<PartsName, SentenceCode>;
const UNNAMED_CLONE = {
  all: "clone_installed_from_backup",
  database: "clone_installed_from_database",
  files: "clone_installed_from_files",
} as const satisfies Record<PartsName, SentenceCode>;

/** Without a name, the database of each clone gets another one. */
export async function forecastClone(
  reader: Reader,
  clone: Omit<InstanceRecord, "database_name"> & { database_name?: string | undefined },
  { backup, policy }: { backup: BackupRecord; policy: PolicyFields | null },
  parts: Parts & { reset_users: boolean },
): Promise<Forecast> {
  const { account_id, erp_version, edition, server_id, database_name, domain, neutralized } = clone;
  const target = { erp_version, edition, server_id, domain };
  return forecast(
    [
      database_name === undefined
        ? effect("create", NEW_INSTANCE, UNNAMED_CLONE[nameParts(parts)], target)
        : effect("create", NEW_INSTANCE, NAMED_CLONE[nameParts(parts)], { ...target, database_name }),
      ...(parts.restore_database ? await effectsOfCode(reader, backup, neutralized) : []),
      ...(parts.restore_database ? effectsOnCopy(neutralized, parts.reset_users) : []),
      readsArchive(reader, backup),
      ...effectsOfFirst(policy),
    ],
    {
      disk_bytes: null,
      warnings: [
        ...(neutralized ? [] : [sentence(backup.kind === "uploaded" ? "upload_not_neutralized" : "clone_not_neutralized")]),
        ...(parts.restore_database && parts.restore_filestore && backup.missing_files > 0 && mayRead(reader, "backup")
          ? [sentence("files_missing", { missing_files: backup.missing_files })]
          : []),
        ...moduleWarnings(reader, backup, parts),
        ...(await diskWarnings(reader, account_id, server_id, estimateBytes(backup, parts))),
        ...(await memoryWarnings(reader, account_id, server_id)),
      ],
    },
  );
}

/** What happens to the copied database before the ERP starts on it. */
const effectsOnCopy = (neutralizes: boolean, resetsUsers: boolean): Effect[] => [
  ...(neutralizes ? [effect("update", NEW_INSTANCE, "copy_neutralized")] : []),
  ...(resetsUsers ? [effect("update", NEW_INSTANCE, "copy_users_reset")] : []),
];

/** What a new instance has besides its image. */
async function effectsOfCode(reader: Reader, backup: BackupRecord, neutralized: boolean): Promise<Effect[]> {
  const brought = mayRead(reader, "backup") ? await findBackupCode(backup) : undefined;
  if (brought === undefined) return [];
  const leavesSecrets = neutralized && brought.code.environment.some(({ secret }) => secret !== undefined);
  return [
    ...brought.commits.map(({ url, ref, commit }) => effect("create", NEW_INSTANCE, "copy_code", { url, ref, commit })),
    ...(leavesSecrets ? [effect("update", NEW_INSTANCE, "copy_without_secrets")] : []),
  ];
}
