// Backups: archives of an instance's database and filestore, which can be restored, cloned from and downloaded.
import * as z from "zod";
import { endpoint } from "./endpoint.ts";
import { exampleId, heldBy, id, listQuery, statusReason, text, timestamp } from "./fields.ts";
import { EDITIONS, NOTHING_TO_RESTORE, nothingToRestore } from "./instances.ts";
import { justBegun, Operation } from "./operations.ts";
import { backupNotCompleted, busy, serverNotActive, wrongState } from "./refusals.ts";

export const BackupStatus = z.enum(["pending", "running", "completed", "failed", "deleting"]);
export type BackupStatus = z.infer<typeof BackupStatus>;

const fileCount = (description: string) =>
  z
    .number()
    .int()
    .min(0)
    .meta({ description, examples: [0] });

export const Backup = z
  .object({
    id: id("backup"),
    instance_id: id("instance"),
    instance_name: z.string().meta({ examples: ["Shop"] }),
    status: BackupStatus.meta({ examples: ["completed"] }),
    status_reason: statusReason,
    kind: z.enum(["manual", "pre_restore"]).meta({ description: "New kinds may appear", examples: ["manual"] }),
    erp_version: z.string().meta({ examples: ["19.0"] }),
    edition: z.enum(EDITIONS).meta({ examples: ["community"] }),
    database_name: z.string().meta({ examples: ["shop"] }),
    size_bytes: z
      .number()
      .int()
      .nullable()
      .meta({ description: "Size of the archive", examples: [18_432] }),
    sha256: z
      .string()
      .nullable()
      .meta({ description: "SHA-256 of the archive, in hexadecimal", examples: ["9f86d081884c7d65".repeat(4)] }),
    missing_files: fileCount("Files that the database names and the instance did not have; normally 0"),
    skipped_files: fileCount("Files left out: links, devices, sockets, and names that are not UTF-8"),
    note: z
      .string()
      .nullable()
      .meta({ examples: ["before the upgrade"] }),
    operation_id: heldBy,
    created_at: timestamp,
    completed_at: timestamp.nullable(),
    expires_at: timestamp
      .nullable()
      .meta({ description: "When the service removes it by itself; null for manual backups", examples: [null] }),
  })
  .meta({ id: "Backup" });
export type Backup = z.infer<typeof Backup>;

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
      message: "must be false when restore_database is false: only a restored database is neutralized",
      input: context.value.neutralize,
    });
}

export const backups = {
  list: endpoint({
    method: "GET",
    path: "/backups",
    summary: "List the backups of all instances",
    description: "The account's backups, newest first, also those of instances that were deleted.",
    access: ["backups:read"],
    query: listQuery({ status: BackupStatus, instance_id: id("instance") }),
    list: true,
    data: z.array(Backup),
  }),
  listOfInstance: endpoint({
    method: "GET",
    path: "/instances/:id/backups",
    summary: "List the backups of an instance",
    description: "Newest first; also those of an instance that was deleted.",
    access: ["backups:read"],
    query: listQuery({ status: BackupStatus }),
    list: true,
    data: z.array(Backup),
  }),
  create: endpoint({
    method: "POST",
    path: "/instances/:id/backups",
    summary: "Back up an instance now",
    description:
      "The archive is the ERP's own zip (`dump.sql`, `filestore/`, `manifest.json`), so it can be restored anywhere with the ERP's own tools.",
    access: ["backups:write"],
    status: 201,
    refusals: [busy, wrongState("failed", "An instance that is failed does not allow backup"), serverNotActive],
    example: {
      status: "pending",
      operation_id: exampleId("operation"),
      size_bytes: null,
      sha256: null,
      completed_at: null,
    },
    starts: ["create-backup"],
    body: z.strictObject({ note: text(200, "before the upgrade").optional() }),
    data: Backup,
  }),
  get: endpoint({
    method: "GET",
    path: "/backups/:id",
    summary: "Show a backup",
    description: "Always as it is now. `sha256` is of the archive as it is downloaded.",
    access: ["backups:read"],
    unversioned: [],
    data: Backup,
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/backups/:id",
    summary: "Delete a backup",
    description: "Removes the archive and the record. A backup that a restore or a clone is reading cannot be deleted.",
    access: ["backups:write"],
    status: 202,
    refusals: [busy, wrongState("running", "The backup is running, which does not allow this")],
    example: justBegun("backup.delete", "backup"),
    starts: ["delete-backup"],
    data: Operation,
  }),
  restore: endpoint({
    method: "POST",
    path: "/backups/:id/restore",
    summary: "Restore a backup into the instance that it is of",
    description:
      "The archive's checksum is verified before anything is touched. With `backup_first` a safety backup is taken before. " +
      "If the restore fails the instance is put back as it was.",
    access: ["backups:restore"],
    status: 202,
    refusals: [
      busy,
      wrongState("provisioning", "An instance that is provisioning does not allow restore"),
      wrongState("deleted", "The instance that this backup is of was deleted; clone from the backup instead"),
      backupNotCompleted,
      serverNotActive,
    ],
    example: { ...justBegun("backup.restore", "instance"), result: { backup_id: exampleId("backup") } },
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
  }),
  download: endpoint({
    method: "GET",
    path: "/backups/:id/download",
    writes: true, // its entry in the audit log
    summary: "Get an address to download a backup's archive from",
    description:
      "A presigned address that is good for 15 minutes, for whoever has it. Each is an event of its own in the audit log, `backup.download`.",
    access: ["backups:restore"],
    refusals: [backupNotCompleted],
    storage: "read",
    data: z.object({
      url: z
        .string()
        .meta({ description: "Presigned; good for 15 minutes without a token", examples: ["https://storage.example.com/…"] }),
      expires_at: timestamp,
    }),
  }),
};
