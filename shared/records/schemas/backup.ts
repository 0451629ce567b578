// A backup as it is stored.
import * as z from "zod";
import { Backup } from "../../api/backups.ts";
import * as fields from "../../api/fields.ts";
import type { BackupStatus } from "../../domain/lifecycle.ts";
import { openEnum, stored } from "../../data/stored.ts";
import { text, textOrNull, noText, maybeText, count, counter, maybeCount, mark, labels, listed, reason } from "./fields.ts";

export const KeptUpload = z.object({
  /** The storage's ID of the multipart upload, whose parts may not have been joined. */
  store_id: text,
  size_bytes: count,
  sha256: text,
});

export type KeptUpload = z.infer<typeof KeptUpload>;

const storedBackup = stored(Backup.omit({ status: true, reason: true }));

export const BackupRecord = storedBackup.extend({
  ...listed,
  labels,
  reason,
  state: openEnum<BackupStatus>(),
  file_name: noText,
  missing_files: counter,
  listed_files: count.nullable().default(null),
  skipped_files: counter,
  left_out: storedBackup.shape.left_out.default([]),
  missing_modules: z.array(text).nullable().default(null),
  locked: Backup.shape.locked.default(false),
  drill: storedBackup.shape.drill.default(null),
  retained_by: storedBackup.shape.retained_by.default([]),
  /** The time when the run of a scheduled backup was due, and whether it repeats one that failed. */
  due_at: maybeText,
  attempt: maybeCount,
  server_id: fields.id("server"),
  /** The storage's own checksum of the archive as it arrived. */
  stored_checksum: maybeText,
  /** What another try of a failed import takes, as long as its archive is stored. */
  upload: KeptUpload.optional(),
  /** The email for a clone once the instance is gone; an uploaded backup never had one. */
  admin_email: textOrNull,
  /** Whether its instance's ERP had code of its own, which is in an item of its own (`backup-code.ts`). */
  with_code: mark,
  /** Operations that are reading the archive: it cannot be deleted while there are any. */
  used_by: z.set(text).optional(),
  /** The bytes that it counts in the account's quotas (`backup-quota.ts`); records from before have none, and are not counted. */
  counted_bytes: maybeCount,
});

export type BackupRecord = z.infer<typeof BackupRecord>;
