// The service's own metrics, which alarms watch: numbers of things that should be none.
import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import { env } from "./env.ts";

/** `infra/alarms.ts` has an alarm for each. */
export type MetricName = "OrphanMachines" | "UndoFailed";

let metrics: Metrics | undefined;

export function count(name: MetricName, value: number): void {
  metrics ??= new Metrics({
    namespace: "ErpControlPlane",
    serviceName: "erp-control-plane",
    defaultDimensions: { environment: env().ENVIRONMENT },
  });
  metrics.addMetric(name, MetricUnit.Count, value);
  metrics.publishStoredMetrics();
}
