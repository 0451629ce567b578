// An archive of the sandbox, fetched from the store and proven whole before anybody uses it.
import { createHash } from "node:crypto";
import { GiveUp } from "../../platform/task-errors.ts";
import type { UploadedArchive } from "../host.ts";
import { because, type Reason } from "../../domain/reasons.ts";
import { Unusable } from "./layout.ts";
import { getArchive, storedObject } from "../../storage/archives.ts";
import type { StoredArchive } from "../../storage/stored-archive.ts";
import { type Archived, requireListedFiles, unpackArchive } from "./archive.ts";

export const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/**
 * Throws GiveUp with BACKUP_CORRUPT if the store has none of its size. Like a machine, it reads none of the contents before they
 * are restored.
 */
export async function requireStoredSize({ key, size_bytes }: UploadedArchive): Promise<void> {
  const object = await storedObject(key);
  if (object === undefined) throw corrupt(GONE);
  if (object.size_bytes !== size_bytes) throw corrupt(CHANGED);
}

/** Throws GiveUp with BACKUP_CORRUPT if it is not the archive that was stored, or cannot be read. */
export async function openArchive({ erp_version, missing_files, ...archive }: StoredArchive): Promise<Archived> {
  const archived = await openUploaded(archive);
  const { major_version } = archived.manifest;
  if (major_version !== erp_version)
    throw corrupt(because("archive_other_version", { version: major_version, expected: erp_version }));
  if (missing_files === undefined) asCorrupt(() => requireListedFiles(archived));
  return archived;
}

/** One that may be of any version. */
export async function openUploaded({ key, size_bytes, sha256 }: UploadedArchive): Promise<Archived> {
  const bytes = await getArchive(key);
  if (bytes === undefined) throw corrupt(GONE);
  if (bytes.length !== size_bytes || sha256Of(bytes) !== sha256) throw corrupt(CHANGED);
  return asCorrupt(() => unpackArchive(bytes));
}

const GONE = because("archive_not_stored");
const CHANGED = because("archive_checksum");

function asCorrupt<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof Unusable) throw corrupt(cause.reason, cause);
    throw corrupt(because("archive_not_sandbox", { output: cause instanceof Error ? cause.message : String(cause) }), cause);
  }
}

export const corrupt = (reason: Reason, cause?: unknown): GiveUp =>
  new GiveUp("BACKUP_CORRUPT", because("backup_unusable", { why: reason }), { cause });
