// Every status of servers, instances, their protection, backups, operations and what bulk actions do: a word and an icon, never
// color alone.
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import type { Drill } from "../../../../shared/api/drill.ts";
import type { Certificate } from "../../../../shared/api/instances.ts";
import type {
  BackupStatus,
  DeployStatus,
  HealthStatus,
  InstanceStatus,
  ItemStatus,
  OperationStatus,
  ProtectionStatus,
  RehearsalStatus,
  ServerStatus,
} from "../../../../shared/domain/lifecycle.ts";
import { text } from "../../messages/text.ts";

type Sign = StatusIndicatorProps.Type;

/** The icons. The words: `text.resource.statuses`. */
export const STATUSES = {
  server: {
    provisioning: "in-progress",
    active: "success",
    offline: "error",
  } satisfies Record<ServerStatus, Sign>,
  instance: {
    provisioning: "in-progress",
    running: "success",
    stopping: "in-progress",
    stopped: "stopped",
    starting: "in-progress",
    restarting: "in-progress",
    restoring: "in-progress",
    updating: "in-progress",
    failed: "error",
    deleting: "in-progress",
  } satisfies Record<InstanceStatus, Sign>,
  backup: {
    pending: "pending",
    running: "in-progress",
    completed: "success",
    failed: "error",
    deleting: "in-progress",
  } satisfies Record<BackupStatus, Sign>,
  protection: {
    protected: "success",
    overdue: "error",
    unprotected: "warning",
  } satisfies Record<ProtectionStatus, Sign>,
  certificate: {
    pending: "pending",
    valid: "success",
    failing: "error",
  } satisfies Record<Certificate["status"], Sign>,
  health: {
    ok: "success",
    failing: "error",
    unknown: "pending",
  } satisfies Record<HealthStatus, Sign>,
  drill: {
    passed: "success",
    failed: "error",
  } satisfies Record<Drill["status"], Sign>,
  deploy: {
    pending: "pending",
    running: "in-progress",
    completed: "success",
    failed: "error",
  } satisfies Record<DeployStatus, Sign>,
  rehearsal: {
    passed: "success",
    failed: "error",
    skipped: "stopped",
  } satisfies Record<RehearsalStatus, Sign>,
  operation: {
    pending: "pending",
    running: "in-progress",
    succeeded: "success",
    failed: "error",
  } satisfies Record<OperationStatus, Sign>,
  item: {
    waiting: "pending",
    running: "in-progress",
    succeeded: "success",
    failed: "error",
    cancelled: "stopped",
  } satisfies Record<ItemStatus, Sign>,
};
type Statuses = typeof STATUSES;

/** A newer service may have more statuses than this page. */
export function shownOf(of: keyof Statuses, status: string): { word: string; sign: Sign } {
  const signs: Readonly<Record<string, Sign>> = STATUSES[of];
  const words: Readonly<Record<string, string>> = text.resource.statuses[of];
  return { word: words[status] ?? status, sign: signs[status] ?? "info" };
}

export function Status<K extends keyof Statuses>({ of, status }: { of: K; status: keyof Statuses[K] & string }) {
  const { word, sign } = shownOf(of, status);
  return <StatusIndicator type={sign}>{word}</StatusIndicator>;
}
