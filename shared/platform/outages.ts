// The transient errors of AWS's services: clients get 503, and tasks retry.
//
// Among them is what the services say while they do not know the permissions or credentials yet that an upgrade has just given a
// function.

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
  // Only transactions cancelled by conflicts or throttling get here: failed conditions have their own errors.
  "TransactionCanceledException",
  "TransactionConflictException",
  "TransactionInProgressException",
  "InternalServerError",
  "InternalServiceError",
  "InternalFailure",
  "ServiceUnavailable",
  "ServiceUnavailableException",
  "AccessDeniedException",
  "UnrecognizedClientException",
  "ExpiredTokenException",
  "ExpiredToken",
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
