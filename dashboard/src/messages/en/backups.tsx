// Backups: their list and calendar. Their dialogs: backup-dialogs.ts.
import type { ReactNode } from "react";
import type { Backup } from "../../../../shared/api/backups.ts";
import type { Drill, DrillCheck } from "../../../../shared/api/drill.ts";

/** An uploaded backup has no instance. */
export const what = (instance: string | null): string => (instance === null ? "uploaded backup" : `backup of ${instance}`);

export const backups = {
  title: "Backups",
  about: "Point-in-time copies of your instances, kept even after an instance is deleted.",
  none: "No backups yet. Back up an instance before you change it.",
  backUpNow: "Back up now",
  upload: "Upload backup",
  notLoaded: "Couldn't load instances. Refresh the page.",
  loading: "Loading instances…",
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
  /** In the calendar, the first letter stands for the kind. */
  kinds: {
    manual: "Manual",
    pre_restore: "Pre-restore",
    scheduled: "Scheduled",
    uploaded: "Uploaded",
  } satisfies Record<Backup["kind"], string>,
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
    label: (instance: string | null, at: string) => `Actions on the ${what(instance)}, ${at}`,
    restore: "Restore",
    drill: "Run drill",
    create: "Create an instance",
    clone: "Clone into a new instance",
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
  calendar: {
    title: "Calendar",
    month: (month: string) => `Backups in ${month}`,
    loading: "(loading…)",
    previous: "Previous month",
    next: "Next month",
    more: (number: number) => `${number} more in the list of backups`,
    due: (at: string) => `Next backup due: ${at}`,
    legend: {
      scheduled: "scheduled",
      manual: "manual",
      pre_restore: "pre-restore",
      passed: "restore drill passed",
      drillFailed: "restore drill failed",
      failed: "backup failed",
      running: "in progress",
      due: "next backup due",
    },
  },
};
