// Which errors of AWS's services pass: told to clients as 503, and tried again by tasks.

const OUTAGES = new Set([
  "TimeoutError",
  "ThrottlingException",
  "ThrottledException",
  "Throttling",
  "TooManyRequestsException",
  "SlowDown",
  "LimitExceededException",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "TransactionCanceledException", // only what conflicts or throttling cancelled gets here: refusals have their own errors
  "TransactionConflictException",
  "TransactionInProgressException",
  "InternalServerError",
  "InternalServiceError",
  "InternalFailure",
  "ServiceUnavailable",
  "ServiceUnavailableException",
]);

const CONNECTION = /^E(CONN|PIPE|HOST|NET|TIMEDOUT|AI_AGAIN|NOTFOUND)/;

/** Whether an AWS service, or the way to it, failed for reasons that pass. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    OUTAGES.has(error.name) ||
    ("$fault" in error && error.$fault === "server") ||
    ("$retryable" in error && error.$retryable !== undefined) ||
    ("code" in error && typeof error.code === "string" && CONNECTION.test(error.code))
  );
}
