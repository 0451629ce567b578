// Every error an endpoint can return: code, HTTP status and default message, and the one class that carries them.

export const ERRORS = {
  MALFORMED_REQUEST: { status: 400, message: "The request body is not a JSON object" },
  UNAUTHORIZED: { status: 401, message: "Invalid or missing authentication token" },
  FORBIDDEN: { status: 403, message: "Token does not have permission" },
  NOT_FOUND: { status: 404, message: "No such resource" },
  METHOD_NOT_ALLOWED: { status: 405, message: "This path does not support that method" },
  CONFLICT: { status: 409, message: "The request conflicts with something that exists" },
  INVALID_STATE: { status: 409, message: "The resource's status does not allow this action" },
  OPERATION_IN_PROGRESS: { status: 409, message: "Another operation is in progress on this resource; wait for it to finish" },
  QUOTA_EXCEEDED: { status: 409, message: "The account has reached its limit for this kind of resource" },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    message: "A request with this Idempotency-Key is still in progress; try again shortly",
  },
  PRECONDITION_FAILED: { status: 412, message: "The resource has changed since the version in If-Match; fetch it again" },
  PAYLOAD_TOO_LARGE: { status: 413, message: "The request body is larger than 64 KiB" },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: "Content-Type must be application/json" },
  VALIDATION_ERROR: { status: 422, message: "Invalid request parameters" },
  IDEMPOTENCY_KEY_REUSED: { status: 422, message: "This Idempotency-Key was already used with a different request" },
  RATE_LIMIT_EXCEEDED: { status: 429, message: "Too many requests; try again after the time in Retry-After" },
  INTERNAL_ERROR: { status: 500, message: "Something went wrong on our side; include the request ID when you report it" },
  SERVICE_UNAVAILABLE: { status: 503, message: "The service is temporarily unavailable; try again shortly" },
} as const;

export type ErrorCode = keyof typeof ERRORS;
export type ErrorDetails = Record<string, unknown>;

/** An error that becomes a response: the message and details go to the client, the cause only to the log. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;
  /** Seconds to wait before a retry: the `Retry-After` header. */
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message?: string, options: { details?: ErrorDetails; retryAfter?: number; cause?: unknown } = {}) {
    super(message ?? ERRORS[code].message, { cause: options.cause });
    this.code = code;
    this.details = options.details;
    this.retryAfter = options.retryAfter;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** One invalid parameter: the field's dotted name and why it is invalid. */
export interface Problem {
  field: string;
  reason: string;
}

export const notFound = (resource: string) => new ApiError("NOT_FOUND", `No such ${resource}`);

/** `problems` must not be empty; the first is the one `details.field` names. */
export const invalid = (...problems: [Problem, ...Problem[]]) =>
  new ApiError("VALIDATION_ERROR", undefined, { details: { ...problems[0], errors: problems } });

export const conflict = (message: string, details: ErrorDetails) => new ApiError("CONFLICT", message, { details });

export const invalidState = (message: string, status: string, details: ErrorDetails = {}) =>
  new ApiError("INVALID_STATE", message, { details: { status, ...details } });

export const operationInProgress = (operationId: string) =>
  new ApiError("OPERATION_IN_PROGRESS", undefined, { details: { operation_id: operationId } });

export const preconditionFailed = (etag: string) => new ApiError("PRECONDITION_FAILED", undefined, { details: { etag } });

/** Why an operation fails: reported on the operation, never as an HTTP error. */
export const OPERATION_ERRORS = [
  "PROVIDER_ERROR",
  "PROVIDER_QUOTA_EXCEEDED",
  "PROVIDER_OUT_OF_CAPACITY",
  "PROVIDER_UNAUTHORIZED",
  "HOST_UNREACHABLE",
  "HOST_JOB_FAILED",
  "BACKUP_CORRUPT",
  "STORAGE_ERROR",
  "TIMEOUT",
  "CANCELLED",
  "INTERNAL_ERROR",
] as const;
export type OperationErrorCode = (typeof OPERATION_ERRORS)[number];

export interface OperationError {
  code: OperationErrorCode;
  message: string;
}
