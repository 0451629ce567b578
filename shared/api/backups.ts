// Backups: archives of an instance's database and filestore, which can be restored, cloned from and downloaded.
import * as z from "zod";
import { BACKUP_KINDS } from "../domain/backup-kinds.ts";
import { EDITIONS } from "../domain/erp-versions.ts";
import { LEFT_OUT_KINDS } from "../domain/left-out.ts";
import { BACKUP_STATUSES, DRILL } from "../domain/lifecycle.ts";
import { DEFAULT_QUOTAS, UPLOAD } from "../domain/limits.ts";
import { KEEP_RULES } from "../domain/retention.ts";
import { endpoint } from "./endpoint.ts";
import * as fields from "./fields.ts";
import { exampleId } from "../domain/id-kinds.ts";
import { Drill } from "./drill.ts";
import { justBegun } from "./just-begun.ts";
import { NOTHING_TO_RESTORE, nothingToRestore } from "./nothing-to-restore.ts";
import { Operation } from "./operations.ts";
import {
  actionNotAllowed,
  backupLocked,
  backupNotCompleted,
  backupNotDeletable,
  backupNotEditable,
  backupNotImportable,
  backupUploaded,
  instanceOfBackupDeleted,
  operationInProgress,
  overQuota,
  serverNotActive,
  serverTriesAnother,
} from "./errors.ts";

const BackupStatus = z.enum(BACKUP_STATUSES);
const BackupKind = z.enum(BACKUP_KINDS);
export type BackupKind = z.infer<typeof BackupKind>;

const fileCount = (description: string) =>
  z
    .number()
    .int()
    .min(0)
    .meta({ description, examples: [0] });

/** How many statements of one kind of a dump are left out. */
const LeftOutCount = z.object({
  kind: z.string().meta({ description: `One of ${LEFT_OUT_KINDS.join(", ")}. New kinds may appear`, examples: ["privileges"] }),
  count: z.number().int().min(1),
});

export const Backup = z
  .object({
    id: fields.id("backup"),
    instance_id: fields
      .id("instance")
      .nullable()
      .meta({ description: "null for an uploaded backup", examples: [exampleId("instance")] }),
    instance_name: z
      .string()
      .nullable()
      .meta({ description: "null for an uploaded backup", examples: ["Shop"] }),
    status: BackupStatus.meta({ examples: ["completed"] }),
    status_reason: fields.statusReason,
    reason: fields.reason,
    kind: BackupKind.meta({ description: "New kinds may appear", examples: ["manual"] }),
    erp_version: z
      .string()
      .nullable()
      .meta({
        description: "null until an uploaded archive was examined; edition and database_name likewise",
        examples: ["19.0"],
      }),
    edition: z
      .enum(EDITIONS)
      .nullable()
      .meta({ examples: ["community"] }),
    database_name: z
      .string()
      .nullable()
      .meta({ examples: ["shop"] }),
    size_bytes: z
      .number()
      .int()
      .nullable()
      .meta({ description: "Size of the archive in bytes", examples: [18_432] }),
    sha256: z
      .string()
      .nullable()
      .meta({ description: "SHA-256 of the archive, in hexadecimal", examples: ["9f86d081884c7d65".repeat(4)] }),
    missing_files: fileCount("Files that the database references but the instance did not have; normally 0"),
    listed_files: z
      .number()
      .int()
      .nullable()
      .meta({ description: "How many files the database references; null if that was not counted", examples: [605] }),
    skipped_files: fileCount(
      "Files left out of the archive: links, devices, sockets and names that are not UTF-8 or longer than 1,024 bytes",
    ),
    left_out: z.array(LeftOutCount).meta({
      description:
        "Of an uploaded archive: statements that are about the server that it comes from, and are never loaded. The import's result names them",
      examples: [[{ kind: "privileges", count: 2 }]],
    }),
    missing_modules: z
      .array(z.string())
      .nullable()
      .meta({
        description:
          "Installed modules that the image of the ERP did not have, or only in an older version than the database was last updated with (up to 50): of the server that examined an uploaded archive, or of the instance. Null if that is not known",
        examples: [[]],
      }),
    note: z
      .string()
      .nullable()
      .meta({ examples: ["before the upgrade"] }),
    file_name: z
      .string()
      .nullable()
      .meta({ description: "Of an uploaded backup: its file's name, if the upload said it", examples: [null] }),
    locked: z.boolean().meta({
      description:
        "A locked backup is not deleted, and does not expire. One that still waits for its turn goes with its policy all the same",
      examples: [false],
    }),
    drill: Drill.nullable().meta({ description: "The last restore drill, or null", examples: [null] }),
    retained_by: z.array(z.enum(KEEP_RULES)).meta({
      description: "The policy's rules that kept a scheduled backup after the last run; empty for other backups",
      examples: [[]],
    }),
    labels: fields.shownLabels,
    operation_id: fields.heldBy,
    created_at: fields.timestamp,
    completed_at: fields.timestamp.nullable(),
    expires_at: fields.timestamp.nullable().meta({
      description:
        "When the service deletes it automatically: safety backups, failed scheduled backups, and the archives of failed imports. Not while it is locked or in use, or is the last completed backup of its instance",
      examples: [null],
    }),
  })
  .meta({ id: "Backup" });
export type Backup = z.infer<typeof Backup>;

/** It follows from `status_reason`. */
export const BACKUP_UNVERSIONED = ["reason"];

const NOTHING_TO_NEUTRALIZE = {
  properties: { restore_database: { const: false }, neutralize: { const: true } },
  required: ["restore_database", "neutralize"],
};

/** What is neutralized is the database that comes from the backup, never the one that stays. */
function nothingToNeutralize(context: z.core.ParsePayload<{ restore_database: boolean; neutralize: boolean }>) {
  if (context.value.neutralize && !context.value.restore_database)
    context.issues.push({
      code: "custom",
      path: ["neutralize"],
      message: "must be false when restore_database is false, because only a restored database can be neutralized",
      input: context.value.neutralize,
    });
}

const filters = () => ({
  status: BackupStatus,
  kind: BackupKind.meta({ examples: ["manual"] }),
  drill: z.enum([DRILL.passed, DRILL.failed]).meta({ description: "What its last restore drill found", examples: ["failed"] }),
  locked: z.enum(["true", "false"]).meta({ description: "Whether the backup is locked", examples: ["true"] }),
  size_bytes_above: fields.queryBytes.meta({
    description: "Only backups whose archive has more bytes",
    examples: [1_000_000_000],
  }),
});

export const list = () =>
  endpoint({
    path: "/backups",
    summary: "List the backups of all instances",
    description: "Returns the account's backups, newest first, including backups of deleted instances.",
    access: ["backups:read"],
    ...fields.searchableListOf("backup", Backup, { ...filters(), instance_id: fields.id("instance") }),
  });

export const listOfInstance = () =>
  endpoint({
    path: "/instances/:id/backups",
    summary: "List the backups of an instance",
    description: "Returns an instance's backups, newest first. Works for a deleted instance too.",
    access: ["backups:read"],
    ...fields.searchableListOf("backup", Backup, filters()),
  });

export const create = () =>
  endpoint({
    method: "POST",
    path: "/instances/:id/backups",
    summary: "Back up an instance",
    description:
      "The archive has the ERP's own zip format (`dump.sql`, `filestore/`, `manifest.json`), so you can restore it anywhere with the ERP's own tools.",
    access: ["backups:write"],
    status: 201,
    errors: () => [
      operationInProgress(exampleId("operation")),
      actionNotAllowed("backup", "failed"),
      serverNotActive(exampleId("server"), "offline"),
      overQuota("backup", DEFAULT_QUOTAS.backup),
    ],
    example: {
      status: "pending",
      operation_id: exampleId("operation"),
      size_bytes: null,
      sha256: null,
      completed_at: null,
    },
    starts: ["create-backup"],
    body: z.strictObject({ note: fields.text(200, "before the upgrade").optional(), labels: fields.labels.optional() }),
    data: Backup,
  });

export const get = () =>
  endpoint({
    method: "GET",
    path: "/backups/:id",
    summary: "Show a backup",
    description: "Strongly consistent. `sha256` is the checksum of the archive that you download.",
    access: ["backups:read"],
    unversioned: BACKUP_UNVERSIONED,
    data: Backup,
  });

export const update = () =>
  endpoint({
    method: "PUT",
    path: "/backups/:id",
    summary: "Change or lock a backup",
    description:
      "Locks the backup, or unlocks it: you cannot delete a locked backup, and a locked safety backup does not expire. `note: null` removes the note.",
    access: ["backups:write"],
    unversioned: BACKUP_UNVERSIONED,
    errors: () => [backupNotEditable("deleting")],
    body: fields.atLeastOne({
      note: fields.text(200, "before the upgrade").nullable().optional(),
      locked: z
        .boolean()
        .optional()
        .meta({ examples: [true] }),
      labels: fields.labels.optional(),
    }),
    data: Backup,
  });

const deleteOne = () =>
  endpoint({
    method: "DELETE",
    path: "/backups/:id",
    summary: "Delete a backup",
    description:
      "Deletes the archive and the record. You cannot delete a backup while it is locked, or while a restore or clone is reading it.",
    access: ["backups:write"],
    proof: () => true,
    status: 202,
    errors: () => [operationInProgress(exampleId("operation")), backupNotDeletable("running"), backupLocked("completed")],
    example: justBegun("backup.delete", "backup"),
    dryRun: true,
    starts: ["delete-backup"],
    data: Operation,
  });
export { deleteOne as delete };

export const restore = () =>
  endpoint({
    method: "POST",
    path: "/backups/:id/restore",
    summary: "Restore a backup to its instance",
    description:
      "Verifies the archive's checksum before it changes anything. With `backup_first`, takes a safety backup first. " +
      "If the restore fails, the instance is rolled back.",
    access: ["backups:restore"],
    status: 202,
    errors: () => [
      operationInProgress(exampleId("operation")),
      actionNotAllowed("restore", "provisioning"),
      instanceOfBackupDeleted(),
      backupUploaded(),
      backupNotCompleted("running"),
      serverNotActive(exampleId("server"), "offline"),
    ],
    example: { ...justBegun("backup.restore", "instance"), result: { backup_id: exampleId("backup") } },
    dryRun: true,
    starts: ["restore-backup"],
    body: z
      .strictObject({
        restore_database: z
          .boolean()
          .default(true)
          .meta({ examples: [true] }),
        restore_filestore: z
          .boolean()
          .default(true)
          .meta({ examples: [true] }),
        neutralize: z
          .boolean()
          .default(false)
          .meta({ examples: [false] }),
        backup_first: z
          .boolean()
          .default(true)
          .meta({ examples: [true] }),
      })
      .check(nothingToRestore)
      .check(nothingToNeutralize)
      .meta({ not: { anyOf: [NOTHING_TO_RESTORE, NOTHING_TO_NEUTRALIZE] } }),
    data: Operation,
  });

export const drill = () =>
  endpoint({
    method: "POST",
    path: "/backups/:id/drill",
    summary: "Test whether a backup can be restored",
    description:
      "Restores the archive to a throwaway database without network access on the instance's server, or on `server_id`, checks it, and removes everything. " +
      "The instance is not touched. The result is the backup's `drill`. If a check fails, the operation still succeeds and `drill.status` is `failed`. " +
      "A server has one drill at a time. `server_id` is required once the backup's instance is deleted.",
    access: ["backups:restore"],
    status: 202,
    errors: () => [
      operationInProgress(exampleId("operation")),
      serverTriesAnother(exampleId("operation")),
      backupNotCompleted("running"),
      serverNotActive(exampleId("server"), "offline"),
    ],
    example: { ...justBegun("backup.drill", "backup"), result: { backup_id: exampleId("backup") } },
    dryRun: true,
    starts: ["drill-backup"],
    body: z.strictObject({
      server_id: fields.id("server").optional().meta({ description: "Defaults to the instance's server" }),
    }),
    data: Operation,
  });

const importAgain = () =>
  endpoint({
    method: "POST",
    path: "/backups/:id/import",
    summary: "Try a failed import again",
    description:
      `After an import fails for any other reason than its archive, the archive stays stored for ${UPLOAD.failedImportDays} days, until the backup's \`expires_at\`. ` +
      "Import it again without sending it again, on the same server or on another one. A server examines one archive at a time.",
    access: ["backups:write"],
    status: 202,
    errors: () => [
      operationInProgress(exampleId("operation")),
      serverTriesAnother(exampleId("operation")),
      backupNotImportable("completed"),
      serverNotActive(exampleId("server"), "offline"),
    ],
    example: { ...justBegun("backup.import", "backup"), result: { backup_id: exampleId("backup") } },
    starts: ["import-backup"],
    body: z.strictObject({ server_id: fields.id("server").meta({ description: "The server that examines the archive" }) }),
    data: Operation,
  });
export { importAgain as import };

export const download = () =>
  endpoint({
    method: "GET",
    path: "/backups/:id/download",
    summary: "Get a download URL for a backup's archive",
    description:
      "Returns a presigned URL that works for up to 15 minutes. Anyone who has the URL can download the archive. Each request adds a `backup.download` event to the audit log.",
    access: ["backups:restore"],
    errors: () => [backupNotCompleted("running")],
    data: z.object({
      url: z.string().meta({
        description: "Presigned: works without a token, for up to 15 minutes",
        examples: ["https://storage.example.com/…"],
      }),
      expires_at: fields.timestamp,
    }),
  });
