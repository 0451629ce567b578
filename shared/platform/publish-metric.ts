// The service's own metrics, as CloudWatch reads them out of the log.
import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import { type MetricName, METRICS_NAMESPACE } from "../domain/alarm-metrics.ts";
import { env } from "./env.ts";

export function publish(name: MetricName, count: number): void {
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE });
  metrics.clearDefaultDimensions(); // of which the alarms know only the environment
  metrics.setDefaultDimensions({ environment: env().ENVIRONMENT });
  metrics.addMetric(name, MetricUnit.Count, count);
  metrics.publishStoredMetrics();
}
