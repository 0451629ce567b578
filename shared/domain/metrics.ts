// The service's own metrics: numbers of things that should be none, each with an alarm of its own.

export const METRICS_NAMESPACE = "ErpControlPlane";

/** Undoing that failed for good; machines at a provider that no record knows. */
export type MetricName = "UndoFailed" | "OrphanMachines";
