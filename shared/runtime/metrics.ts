// The service's own metrics, each with an alarm of its own in infra/alarms.ts, which reads them by these names.
import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import { env } from "./env.ts";

/** Undoing that failed for good; machines at a provider that no record knows. */
type MetricName = "UndoFailed" | "OrphanMachines";

export function publish(name: MetricName, count: number): void {
  const metrics = new Metrics({ namespace: "ErpControlPlane" });
  metrics.clearDefaultDimensions(); // of which the alarms know only the environment
  metrics.setDefaultDimensions({ environment: env().ENVIRONMENT });
  metrics.addMetric(name, MetricUnit.Count, count);
  metrics.publishStoredMetrics();
}
