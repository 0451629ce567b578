// Why an action isn't possible now. Statuses of servers and instances are parameters as `text.resource.statuses` has them:
// "Running".
import type { BackupStatus, InstanceAction } from "../../../../shared/domain/lifecycle.ts";

const DONE: Record<InstanceAction, string> = {
  start: "started",
  stop: "stopped",
  restart: "restarted",
  backup: "backed up",
  restore: "restored",
  deploy: "given other code",
  update: "moved to another domain",
  delete: "deleted",
};

const BACKUP_IS: Record<BackupStatus, string | undefined> = {
  pending: "The backup hasn't started yet",
  running: "The backup is still in progress",
  completed: "The backup is completed",
  failed: "The backup failed",
  deleting: "The backup is being deleted",
};

const either = new Intl.ListFormat("en", { type: "disjunction" });

const backupIs = (status: BackupStatus): string => BACKUP_IS[status] ?? `The backup has the status “${status}”`;

export const allowed = {
  busy: "Another operation is in progress. Wait for it to finish.",
  /** A newer service's. */
  unknownStatus: (status: string) => `This page doesn't know the status “${status}” yet. Reload it, or try again later.`,
  instance: {
    status: (action: InstanceAction, status: string, needed: readonly string[]) =>
      `Can't be ${DONE[action]} while ${status.toLowerCase()}. The instance must be ${either.format(needed).toLowerCase()}.`,
    already: { running: "It is running already.", stopped: "It is stopped already." },
    server: (name: string, status: string) => `Its server ${name} is ${status.toLowerCase()}. It must be active.`,
    neverInstalled: "Odoo was never installed. Delete this instance and create another.",
    deleting: "This instance is being deleted.",
  },
  server: {
    checking: "Checking for instances…",
    notActive: "The server must be active.",
    instances: (number: number) =>
      number === 1 ? "It has 1 instance. Delete it first." : `It has ${number} instances. Delete them first.`,
  },
  backup: {
    unusable: (status: BackupStatus) => `${backupIs(status)}. Only completed backups can be used.`,
    uploaded: "An uploaded backup has no instance. Create one from it instead.",
    instanceDeleted: "The instance was deleted. Restore the backup to a new instance instead.",
    busy: "Another operation is using this backup. Wait for it to finish.",
    inUse: "In use by a restore. Wait for it to finish.",
    locked: "The backup is locked. Unlock it first, under Edit details.",
    cannotChange: (status: BackupStatus) => `${backupIs(status)}, so it can't be changed.`,
    cannotDelete: (status: BackupStatus) => `${backupIs(status)}, so it can't be deleted.`,
  },
};
