// What each kind of work is called: while it runs, when it is done, and when it failed; and what it found.
import type { OperationResult, OperationType } from "../../../shared/api/operations.ts";

interface Words {
  name: string;
  running: string;
  succeeded: string;
  failed: string;
}

const WORK: Readonly<Record<string, Words>> = {
  "server.create": {
    name: "Create server",
    running: "Creating server",
    succeeded: "Server created",
    failed: "Server could not be created",
  },
  "server.delete": {
    name: "Delete server",
    running: "Deleting server",
    succeeded: "Server deleted",
    failed: "Server could not be deleted",
  },
  "instance.create": {
    name: "Create instance",
    running: "Installing instance",
    succeeded: "Instance is running",
    failed: "Instance could not be installed",
  },
  "instance.update": {
    name: "Change domain",
    running: "Changing domain",
    succeeded: "Domain changed",
    failed: "Domain could not be changed",
  },
  "instance.clone": {
    name: "Clone",
    running: "Cloning instance",
    succeeded: "Clone is running",
    failed: "Clone could not be made",
  },
  "instance.start": {
    name: "Start",
    running: "Starting instance",
    succeeded: "Instance started",
    failed: "Instance did not start",
  },
  "instance.stop": { name: "Stop", running: "Stopping instance", succeeded: "Instance stopped", failed: "Instance did not stop" },
  "instance.restart": {
    name: "Restart",
    running: "Restarting instance",
    succeeded: "Instance restarted",
    failed: "Instance did not restart",
  },
  "instance.delete": {
    name: "Delete instance",
    running: "Deleting instance",
    succeeded: "Instance deleted",
    failed: "Instance could not be deleted",
  },
  "backup.create": { name: "Back up", running: "Backing up", succeeded: "Backup completed", failed: "Backup failed" },
  "backup.delete": {
    name: "Delete backup",
    running: "Deleting backup",
    succeeded: "Backup deleted",
    failed: "Backup could not be deleted",
  },
  "backup.restore": {
    name: "Restore",
    running: "Restoring backup",
    succeeded: "Backup restored",
    failed: "Backup could not be restored",
  },
} satisfies Record<OperationType, Words>;

/** A newer service may do more kinds of work than this page knows. */
export const workOf = (type: string): Words =>
  WORK[type] ?? { name: type, running: type, succeeded: `${type} has succeeded`, failed: `${type} has failed` };

export const HOST_SKIPPED = "The server was not active: only the record was removed, and what is on the machine stays there.";

/** What was found in a clone, after it was made. */
export function verificationInWords(found: NonNullable<OperationResult["verification"]>): string {
  const { is_neutralized, active_crons, active_mail_servers, new_database_uuid, base_url } = found;
  return [
    is_neutralized ? "Neutralized" : "Not neutralized",
    counted(active_crons, "active scheduled job"),
    counted(active_mail_servers, "active mail server"),
    new_database_uuid ? "a database identity of its own" : "the database identity of its original",
    `address ${base_url}`,
  ].join(", ");
}

export const downtimeInWords = (seconds: number): string =>
  `The ERP was stopped for ${seconds < 1 ? "less than a second" : counted(Math.round(seconds), "second")}.`;

const counted = (number: number, what: string): string => `${number === 0 ? "no" : number} ${what}${number === 1 ? "" : "s"}`;
