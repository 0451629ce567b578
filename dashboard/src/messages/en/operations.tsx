// Operations: their kinds, their progress and their results.
import { isLeftOutKind, type LeftOutKind } from "../../../../shared/domain/left-out.ts";
import type { OperationType } from "../../../../shared/domain/lifecycle.ts";
import type { ReactNode } from "react";
import { steps } from "./steps.ts";

/** An operation in progress, completed and failed; and the event of its request, which does not say how it ends. */
interface Work {
  name: string;
  running: string;
  succeeded: string;
  failed: string;
  event: string;
}

const counted = (number: number, noun: string): string => `${number === 0 ? "no" : number} ${noun}${number === 1 ? "" : "s"}`;

/** What a dump has of the server that it comes from. */
const LEFT_OUT: Readonly<Record<LeftOutKind, string>> = {
  privileges: "privileges",
  owners: "owners",
  roles: "roles",
  tablespaces: "tablespaces",
  databases: "the database itself",
  security_labels: "security labels",
  extensions: "extensions",
  extension_data: "data of extensions",
  event_triggers: "event triggers",
  publications: "publications",
  subscriptions: "subscriptions",
  foreign_data: "foreign data",
  access_methods: "access methods",
  languages: "languages",
  functions: "functions",
  policies: "row security policies",
  statistics: "statistics",
  settings: "settings",
  drops: "removals",
};
const leftOutKind = (kind: string, count: number): string => `${isLeftOutKind(kind) ? LEFT_OUT[kind] : kind} (${count})`;

export const operations = {
  steps,
  work: {
    "server.create": {
      name: "Create server",
      running: "Creating server",
      succeeded: "Server created",
      failed: "Couldn't create server",
      event: "Started server creation",
    },
    "server.reboot": {
      name: "Reboot server",
      running: "Rebooting server",
      succeeded: "Server rebooted",
      failed: "Couldn't reboot server",
      event: "Started server reboot",
    },
    "server.update": {
      name: "Update server",
      running: "Updating server's software",
      succeeded: "Server's software updated",
      failed: "Couldn't update server's software",
      event: "Started server update",
    },
    "server.delete": {
      name: "Delete server",
      running: "Deleting server",
      succeeded: "Server deleted",
      failed: "Couldn't delete server",
      event: "Started server deletion",
    },
    "instance.create": {
      name: "Create instance",
      running: "Creating instance",
      succeeded: "Instance created",
      failed: "Couldn't create instance",
      event: "Started instance creation",
    },
    "instance.update": {
      name: "Change domain",
      running: "Changing domain",
      succeeded: "Domain changed",
      failed: "Couldn't change domain",
      event: "Requested instance update", // a new name is in effect, a new domain may still fail
    },
    /** Also used for an instance from an uploaded backup, which clones nothing. */
    "instance.clone": {
      name: "Create instance from backup",
      running: "Creating instance from backup",
      succeeded: "Instance created from backup",
      failed: "Couldn't create instance from backup",
      event: "Started instance creation from backup",
    },
    "instance.start": {
      name: "Start",
      running: "Starting instance",
      succeeded: "Instance started",
      failed: "Couldn't start instance",
      event: "Started instance startup",
    },
    "instance.stop": {
      name: "Stop",
      running: "Stopping instance",
      succeeded: "Instance stopped",
      failed: "Couldn't stop instance",
      event: "Started instance shutdown",
    },
    "instance.restart": {
      name: "Restart",
      running: "Restarting instance",
      succeeded: "Instance restarted",
      failed: "Couldn't restart instance",
      event: "Started instance restart",
    },
    "instance.delete": {
      name: "Delete instance",
      running: "Deleting instance",
      succeeded: "Instance deleted",
      failed: "Couldn't delete instance",
      event: "Started instance deletion",
    },
    "backup.create": {
      name: "Backup",
      running: "Backing up",
      succeeded: "Backup completed",
      failed: "Backup failed",
      event: "Started backup",
    },
    "backup.delete": {
      name: "Delete backup",
      running: "Deleting backup",
      succeeded: "Backup deleted",
      failed: "Couldn't delete backup",
      event: "Started backup deletion",
    },
    "backup.restore": {
      name: "Restore",
      running: "Restoring backup",
      succeeded: "Backup restored",
      failed: "Couldn't restore backup",
      event: "Started restore",
    },
    "backup.import": {
      name: "Import",
      running: "Importing archive",
      succeeded: "Archive imported",
      failed: "Couldn't import archive",
      event: "Started archive import",
    },
    "backup.drill": {
      name: "Restore drill",
      running: "Running restore drill",
      succeeded: "Restore drill finished",
      failed: "Couldn't run restore drill",
      event: "Started restore drill",
    },
    "instance.check_code": {
      name: "Code check",
      running: "Checking code",
      succeeded: "Code checked",
      failed: "Couldn't check code",
      event: "Started code check",
    },
    "instance.deploy": {
      name: "Deploy",
      running: "Deploying code",
      succeeded: "Code deployed",
      failed: "Couldn't deploy code",
      event: "Started deploy",
    },
    "bulk.run": {
      name: "Bulk action",
      running: "Running bulk action",
      succeeded: "Bulk action finished",
      failed: "Bulk action didn't finish",
      event: "Started bulk action",
    },
  } satisfies Record<OperationType, Work>,
  /** For types of a newer service. */
  unknownWork: (type: string): Work => ({
    name: type,
    running: type,
    succeeded: `${type} succeeded`,
    failed: `${type} failed`,
    event: type,
  }),
  /** Parts of the service that start operations and change things, by the names that the API gives them. */
  service: {
    "Health checks": "Health checks",
    "Health check": "Health check",
    "Backup policy": "Backup policy",
    "Deploy hook": "Deploy hook",
    "Expiry of backups": "Expiry of backups",
    "Expiry of uploads": "Expiry of uploads",
    operator: "operator",
  },
  bulk: {
    done: (number: number, all: number) => `${number} of ${all} done`,
    summary: (succeeded: number, total: number, failed: number, cancelled: number) =>
      `${succeeded} of ${total} done${failed > 0 ? `, ${failed} failed` : ""}${cancelled > 0 ? `, ${cancelled} canceled` : ""}.`,
    results: "Show results",
  },
  title: "Operations",
  actorRemoved: "since removed",
  empty: "No operations yet.",
  one: "operation",
  columns: {
    operation: "Operation",
    status: "Status",
    on: "On",
    result: "Result",
    duration: "Duration",
    by: "Started by",
    at: "Started",
  },
  retry: "Retry",
  /** The text has no period at its end, like the errors of the API. */
  notDeletedYet: "The deletion is still in progress. Wait until it has ended, then try again",
  retryOf: (work: string, name: string) => `Retry ${work.toLowerCase()}: ${name}`,
  log: {
    title: "Log",
    about: "What was printed while the work was done on the server.",
    last: (lines: number) => `The last ${lines} lines of the log`,
    showAll: "Show all",
    download: "Download",
    none: "Nothing was logged, or it is more than 90 days old.",
    nothingYet: "Nothing has been logged yet.",
    open: "Show log",
  },
  running: "Running",
  queued: "Queued",
  progressUnknown: "Can't get the progress right now. Trying again…",
  hostSkipped:
    "The server wasn't active, so only the record was removed. The ERP and its data are removed when the server responds again.",
  finished: (time: ReactNode) => <>Finished {time}</>,
  backup: (at: string) => `Backup from ${at}`,
  drillFailed: "Restore drill failed",
  drill: (status: ReactNode) => <>Drill: {status}</>,
  preRestoreBackup: (at: string) => `Pre-restore backup from ${at}`,
  preDeployBackup: (at: string) => `Pre-deploy backup from ${at}`,
  skipped: (paths: string) => `Skipped: ${paths}`,
  missingModules: (modules: string) =>
    `Installed modules that the ERP's image lacks, or has only in an older version: ${modules}`,
  unfinished: (modules: string) => `Half-installed apps, to be upgraded, installed or canceled in the ERP: ${modules}`,
  missingFiles: (number: number) => `The archive lacks ${counted(number, "file")} that its database lists.`,
  leftOutKind,
  leftOut: (kind: string, count: number, names: string) => `Not loaded, ${leftOutKind(kind, count)}: ${names}`,
  downtime: (seconds: number) =>
    `Odoo was stopped for ${seconds < 1 ? "less than a second" : counted(Math.round(seconds), "second")}.`,
  /** What a clone was found to have, in a list. */
  verification: {
    neutralized: "Neutralized",
    notNeutralized: "Not neutralized",
    crons: (number: number) => counted(number, "active scheduled action"),
    mailServers: (number: number) => counted(number, "active mail server"),
    newUuid: "new database UUID",
    sameUuid: "same database UUID as the original",
    address: (url: string) => `address ${url}`,
  },
};
