// What each kind of work is called: while it runs, when it is done, and when it failed.
import type { OperationType } from "../../../shared/api/operations.ts";

export const WORK: Record<OperationType, { name: string; running: string; succeeded: string; failed: string }> = {
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
    failed: "Domain could not be changed; the old one serves",
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
    failed: "Backup could not be restored; the instance is as it was",
  },
};
