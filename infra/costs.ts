// What the running month has cost so far on AWS, by the arithmetic of docs/deploy.md and docs/scale.md: their prices, and the use
// that the table knows. It does not count requests: their number is a metric of API Gateway.
import type { Environment } from "../shared/domain/environments.ts";

/** US$, in eu-central-1. `test/local/status.all.test.ts` finds each in the docs. */
export const PRICES = {
  idleMonth: { test: 8, live: 8.6 },
  millionRequests: 7.6,
  /** The checks of a thousand servers, a month. */
  thousandServers: 33,
  /** Storage of archives, per month. */
  gigabyteMonth: 0.025,
  /** One that waits for an hour. */
  operation: 0.002,
  /** A million that write 30 units each: most write between 19 and 44. */
  millionChanges: 23,
} as const;

export interface Use {
  servers: number;
  archive_bytes: number;
  operations: number;
  changes: number;
  /** The number of requests, if the operator has looked it up. */
  requests: number | undefined;
}

export type Costs = Record<"idle" | "checks" | "archives" | "operations" | "changes" | "requests" | "total", number>;

/** Computes the costs as if there had been as many servers and archives since the month began as there are now. */
export function costsOfMonth(environment: Environment, use: Use, at = new Date()): Costs {
  const part = elapsedPart(at);
  const parts = {
    idle: PRICES.idleMonth[environment] * part,
    checks: (use.servers / 1e3) * PRICES.thousandServers * part,
    archives: (use.archive_bytes / 1e9) * PRICES.gigabyteMonth * part,
    operations: use.operations * PRICES.operation,
    changes: (use.changes / 1e6) * PRICES.millionChanges,
    requests: ((use.requests ?? 0) / 1e6) * PRICES.millionRequests,
  };
  return { ...parts, total: Object.values(parts).reduce((sum, price) => sum + price, 0) };
}

/** The part of the month that has passed. */
function elapsedPart(at: Date): number {
  const begin = Date.UTC(at.getUTCFullYear(), at.getUTCMonth());
  const end = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1);
  return (at.getTime() - begin) / (end - begin);
}
