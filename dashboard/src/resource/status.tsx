// Every status of servers, instances, their protection, backups and operations: a word and an icon, never color alone.
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import type {
  BackupStatus,
  InstanceStatus,
  OperationStatus,
  ProtectionStatus,
  ServerStatus,
} from "../../../shared/domain/lifecycle.ts";

interface Shown {
  word: string;
  sign: StatusIndicatorProps.Type;
}

export const STATUSES = {
  server: {
    provisioning: { word: "Provisioning", sign: "in-progress" },
    active: { word: "Active", sign: "success" },
    offline: { word: "Offline", sign: "error" },
  } satisfies Record<ServerStatus, Shown>,
  instance: {
    provisioning: { word: "Provisioning", sign: "in-progress" },
    running: { word: "Running", sign: "success" },
    stopping: { word: "Stopping", sign: "in-progress" },
    stopped: { word: "Stopped", sign: "stopped" },
    starting: { word: "Starting", sign: "in-progress" },
    restarting: { word: "Restarting", sign: "in-progress" },
    restoring: { word: "Restoring", sign: "in-progress" },
    failed: { word: "Failed", sign: "error" },
    deleting: { word: "Deleting", sign: "in-progress" },
  } satisfies Record<InstanceStatus, Shown>,
  backup: {
    pending: { word: "Pending", sign: "pending" },
    running: { word: "Running", sign: "in-progress" },
    completed: { word: "Completed", sign: "success" },
    failed: { word: "Failed", sign: "error" },
    deleting: { word: "Deleting", sign: "in-progress" },
  } satisfies Record<BackupStatus, Shown>,
  protection: {
    protected: { word: "Protected", sign: "success" },
    overdue: { word: "Overdue", sign: "error" },
    unprotected: { word: "Unprotected", sign: "warning" },
  } satisfies Record<ProtectionStatus, Shown>,
  operation: {
    pending: { word: "Pending", sign: "pending" },
    running: { word: "Running", sign: "in-progress" },
    succeeded: { word: "Succeeded", sign: "success" },
    failed: { word: "Failed", sign: "error" },
  } satisfies Record<OperationStatus, Shown>,
};
type Statuses = typeof STATUSES;

/** A newer service may have more statuses than this page. */
export function shownOf(of: keyof Statuses, status: string): Shown {
  const known: Readonly<Record<string, Shown>> = STATUSES[of];
  return known[status] ?? { word: status, sign: "info" };
}

export function Status<K extends keyof Statuses>({ of, status }: { of: K; status: keyof Statuses[K] & string }) {
  const { word, sign } = shownOf(of, status);
  return <StatusIndicator type={sign}>{word}</StatusIndicator>;
}
