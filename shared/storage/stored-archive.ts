// The archive of a completed backup, as its readers need it.
import type { BackupRecord } from "../records/schemas/backup.ts";
import { because } from "../domain/reasons.ts";
import { GiveUp } from "../platform/task-errors.ts";
import { archiveKey } from "./archive-key.ts";

/** An archive in the store, as its backup's record knows it. */
export interface StoredArchive {
  key: string;
  size_bytes: number;
  sha256: string;
  /** The ERP's version that the archive must be of. */
  erp_version: string;
  /** How many files an uploaded one lacks, as its import found out. Others say it in their manifest. */
  missing_files?: number;
}

export function requireStoredArchive(backup: BackupRecord): StoredArchive & { edition: NonNullable<BackupRecord["edition"]> } {
  const { size_bytes, sha256, erp_version, edition } = backup;
  if (size_bytes === null || sha256 === null || erp_version === null || edition === null)
    throw new GiveUp("BACKUP_CORRUPT", because("checksum_missing"));
  const counted = backup.kind === "uploaded" && { missing_files: backup.missing_files };
  return { key: archiveKey(backup), size_bytes, sha256, erp_version, edition, ...counted };
}

/**
 * What the store must have; undefined as long as nothing was recorded, and in records of before there was the store's checksum.
 */
export const expectedArchive = ({ size_bytes, stored_checksum }: Pick<BackupRecord, "size_bytes" | "stored_checksum">) =>
  size_bytes !== null && stored_checksum !== undefined ? { size_bytes, stored_checksum } : undefined;
