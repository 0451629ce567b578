// The service's own metrics: counts that should be zero, each with its own alarm.

export const METRICS_NAMESPACE = "ErpControlPlane";

/**
 * The message of an ERROR line about a record that a list or a schedule could not read (data/parse-each.ts): an alarm counts
 * these lines.
 */
export const RECORD_SKIPPED = "record skipped";

/**
 * Operations that failed because of an error of ours; undoing that failed for good; machines at a provider that no record knows;
 * backups that failed their drill; instances that have become overdue; ERPs that went down; servers whose disk has become low;
 * instances that are paused because of it; owners who signed in with a passkey though single sign-on is required.
 */
export type MetricName =
  | "InternalError"
  | "UndoFailed"
  | "OrphanMachines"
  | "DrillFailed"
  | "BackupsOverdue"
  | "InstancesDown"
  | "DisksLow"
  | "InstancesPaused"
  | "SsoBypassed";
