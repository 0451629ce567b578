// The words for each type of operation: in progress, completed and failed; and its results.
import type { OperationResult } from "../../../shared/api/operations.ts";
import type { OperationType } from "../../../shared/domain/lifecycle.ts";

interface Words {
  name: string;
  running: string;
  succeeded: string;
  failed: string;
  /** For the audit log: the action that the user requested. */
  event: string;
}

const WORK: Readonly<Record<string, Words>> = {
  "server.create": {
    name: "Create server",
    running: "Creating server",
    succeeded: "Server created",
    failed: "Couldn't create server",
    event: "Created server",
  },
  "server.delete": {
    name: "Delete server",
    running: "Deleting server",
    succeeded: "Server deleted",
    failed: "Couldn't delete server",
    event: "Deleted server",
  },
  "instance.create": {
    name: "Create instance",
    running: "Creating instance",
    succeeded: "Instance created",
    failed: "Couldn't create instance",
    event: "Created instance",
  },
  "instance.update": {
    name: "Change domain",
    running: "Changing domain",
    succeeded: "Domain changed",
    failed: "Couldn't change domain",
    event: "Changed instance",
  },
  "instance.clone": {
    name: "Clone",
    running: "Cloning instance",
    succeeded: "Clone created",
    failed: "Couldn't create clone",
    event: "Cloned instance",
  },
  "instance.start": {
    name: "Start",
    running: "Starting instance",
    succeeded: "Instance started",
    failed: "Couldn't start instance",
    event: "Started instance",
  },
  "instance.stop": {
    name: "Stop",
    running: "Stopping instance",
    succeeded: "Instance stopped",
    failed: "Couldn't stop instance",
    event: "Stopped instance",
  },
  "instance.restart": {
    name: "Restart",
    running: "Restarting instance",
    succeeded: "Instance restarted",
    failed: "Couldn't restart instance",
    event: "Restarted instance",
  },
  "instance.delete": {
    name: "Delete instance",
    running: "Deleting instance",
    succeeded: "Instance deleted",
    failed: "Couldn't delete instance",
    event: "Deleted instance",
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
    event: "Deleted backup",
  },
  "backup.restore": {
    name: "Restore",
    running: "Restoring backup",
    succeeded: "Backup restored",
    failed: "Couldn't restore backup",
    event: "Restored backup",
  },
  "backup.drill": {
    name: "Restore drill",
    running: "Trying to restore backup",
    succeeded: "Restore drill finished",
    failed: "Couldn't hold restore drill",
    event: "Started restore drill",
  },
} satisfies Record<OperationType, Words>;

/** A newer service may know more types of operations than this page. */
export const workOf = (type: string): Words =>
  WORK[type] ?? { name: type, running: type, succeeded: `${type} succeeded`, failed: `${type} failed`, event: type };

export const HOST_SKIPPED = "The server wasn't active, so only the record was removed. Data on the machine was kept.";

/** The results of verifying a clone. */
export function verificationInWords(found: NonNullable<OperationResult["verification"]>): string {
  const { is_neutralized, active_crons, active_mail_servers, new_database_uuid, base_url } = found;
  return [
    is_neutralized ? "Neutralized" : "Not neutralized",
    counted(active_crons, "active scheduled action"),
    counted(active_mail_servers, "active mail server"),
    new_database_uuid ? "new database UUID" : "same database UUID as the original",
    `address ${base_url}`,
  ].join(", ");
}

export const downtimeInWords = (seconds: number): string =>
  `Odoo was stopped for ${seconds < 1 ? "less than a second" : counted(Math.round(seconds), "second")}.`;

const counted = (number: number, what: string): string => `${number === 0 ? "no" : number} ${what}${number === 1 ? "" : "s"}`;
