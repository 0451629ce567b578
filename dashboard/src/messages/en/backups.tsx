// Backups: their list, and those of an instance day by day. Their dialogs: backup-dialogs.ts.
import type { ReactNode } from "react";
import type { Backup } from "../../../../shared/api/backups.ts";
import type { Drill, DrillCheck } from "../../../../shared/api/drill.ts";

/** An uploaded backup has no instance, but perhaps the name of its file. */
export type Named = Pick<Backup, "instance_name" | "file_name">;
export const describeBackup = ({ instance_name, file_name }: Named): string =>
  instance_name === null ? (file_name ?? "uploaded backup") : `backup of ${instance_name}`;

export const backups = {
  title: "Backups",
  about: "Point-in-time copies of your instances, kept even after an instance is deleted.",
  none: "No backups yet. Back up an instance before you change it.",
  backUpNow: "Back up now",
  upload: "Upload backup",
  noInstance: "Create an instance first.",
  columns: {
    created: "Created",
    instance: "Instance",
    status: "Status",
    kind: "Kind",
    drill: "Drill",
    size: "Size",
    note: "Note",
    labels: "Labels",
    id: "ID",
    actions: "Actions",
  },
  deleted: "(deleted)",
  locked: "locked",
  lockedKind: (kind: string) => `${kind} (locked)`,
  expires: (at: ReactNode) => <>expires {at}</>,
  kinds: {
    manual: "Manual",
    pre_restore: "Pre-restore",
    pre_deploy: "Pre-deploy",
    scheduled: "Scheduled",
    uploaded: "Uploaded",
  } satisfies Record<Backup["kind"], string>,
  filters: {
    placeholder: "Instance, note, label",
    labels: {
      instance: "Filter by instance",
      kind: "Filter by kind",
      drill: "Filter by restore drill",
      locked: "Filter by lock",
      larger: "Filter by size",
    },
    any: {
      instance: "Any instance",
      kind: "Any kind",
      drill: "Any restore drill",
      locked: "Locked or not",
      larger: "Any size",
    },
    /** The plural within sentences. */
    plural: "instances",
    noInstances: "No instances yet",
    drills: { passed: "Drill passed", failed: "Drill failed" },
    locks: { true: "Locked", false: "Not locked" },
    larger: (size: string) => `Larger than ${size}`,
  },
  /** What the drill of a backup found, in a list of the backup's properties. */
  drilled: { passed: "restore drill passed", failed: "restore drill failed" } satisfies Record<Drill["status"], string>,
  checks: {
    checksum: "Archive unchanged",
    restores: "Database restores",
    boots: "Odoo starts",
    rows: "Row counts match",
    files: "Attachments complete",
  } satisfies Record<DrillCheck["name"], string>,
  menu: {
    label: (backup: Named, at: string) =>
      `Actions on ${backup.instance_name === null && backup.file_name !== null ? "" : "the "}${describeBackup(backup)}, ${at}`,
    restore: "Restore",
    drill: "Run drill",
    create: "Create an instance",
    clone: "Restore to a new instance",
    download: "Download",
    downloadCall: "Show API call to download",
    downloadTitle: "Download backup",
    edit: "Edit details",
    delete: "Delete",
  },
  download: {
    failed: (error: string) => `Couldn't download the backup: ${error.charAt(0).toLowerCase()}${error.slice(1)}`,
    withRequestId: (error: string, id: string) => `${error} Request ID: ${id}`,
  },
  /** A part of an instance's page. */
  sizes: "Size over time",
  strip: {
    title: "Backups of the last 35 days",
    none: (date: string) => `${date}: no backup`,
    unknown: (date: string) => `${date}: not known`,
    day: (date: string, count: number, backup: string) =>
      count === 1 ? `${date}: ${backup}` : `${date}: ${count} backups, among them: ${backup}`,
    due: (at: string) => `Next backup due: ${at}`,
    legend: {
      completed: "completed",
      drillFailed: "restore drill failed",
      failed: "failed",
      running: "in progress",
      none: "none",
      unknown: "not known",
      due: "next backup due",
    },
  },
};
