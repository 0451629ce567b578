// Every error an endpoint can return: code, HTTP status and default message, and the one class that carries them.
import {
  type InstanceAction,
  type InstanceStatus,
  phaseInWords,
  type ResourceType,
  serverStatus,
  type ServerPhase,
  type ServerStatus,
} from "../domain/lifecycle.ts";
import {
  INVITATION,
  LOGIN_WINDOW_SECONDS,
  PUSH,
  SECOND_FACTORS,
  type QuotaKind,
  type REQUEST_LIMITS,
  WEBHOOK,
  WINDOW_SECONDS,
} from "../domain/limits.ts";
import type { Permission } from "./permissions.ts";
import type { RequiredRole } from "./roles.ts";
import { MINUTE_MS } from "../domain/durations.ts";

export const ERRORS = {
  MALFORMED_REQUEST: { status: 400, message: "The request body is not a JSON object" },
  UNAUTHORIZED: { status: 401, message: "Invalid or missing authentication token" },
  SECOND_FACTOR_REQUIRED: { status: 401, message: "Your second factor is needed to sign in" },
  FORBIDDEN: { status: 403, message: "Token does not have permission" },
  SECOND_FACTOR_SETUP_REQUIRED: { status: 403, message: "Your account requires a second factor; set one up first" },
  REAUTHENTICATION_REQUIRED: { status: 403, message: "Prove again that it is you, with your second factor" },
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
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    message: "This Idempotency-Key was already used with a different request; use a new key for a new request",
  },
  RATE_LIMIT_EXCEEDED: { status: 429, message: "Too many requests; try again after the time in Retry-After" },
  INTERNAL_ERROR: { status: 500, message: "Something went wrong on our side; include the request ID when you report it" },
  SERVICE_UNAVAILABLE: { status: 503, message: "The service is temporarily unavailable; try again shortly" },
} as const;

export type ErrorCode = keyof typeof ERRORS;
export type ErrorDetails = Record<string, unknown>;

/** Which kind of resource an error speaks of, and its message for credentials without any permission for that kind. */
interface About {
  kind: ResourceType;
  otherwise?: string;
  /** It says more of the resource than its status: only with the permission to read that kind. */
  reads?: true;
}

interface ErrorOptions {
  details?: ErrorDetails;
  retryAfter?: number;
  cause?: unknown;
  about?: About | undefined;
}

/** An error that becomes a response: the message and details go to the client, the cause only to the log. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;
  /** Seconds to wait before a retry: the `Retry-After` header. */
  readonly retryAfter: number | undefined;
  readonly about: About | undefined;

  constructor(code: ErrorCode, message?: string, options: ErrorOptions = {}) {
    super(message ?? ERRORS[code].message, { cause: options.cause });
    this.about = options.about;
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

/** What is wrong, where the message alone does not say it: the first invalid parameter, whose sentence clients recognize. */
export function mainProblem({ message, details }: { message: string; details?: ErrorDetails | undefined }) {
  const { field, reason } = details ?? {};
  const isParameter = typeof field === "string" && typeof reason === "string";
  return isParameter ? { message: `${field} ${reason}`, recognizable: reason } : { message, recognizable: message };
}

export const conflict = (message: string, details: ErrorDetails, about?: About) =>
  new ApiError("CONFLICT", message, { details, about });

export const invalidState = (message: string, status: string, details: ErrorDetails = {}, about?: About) =>
  new ApiError("INVALID_STATE", message, { details: { status, ...details }, about });

const INSTANCE = { kind: "instance" } as const;
const BACKUP = { kind: "backup" } as const;

export const operationInProgress = (operationId: string) =>
  new ApiError("OPERATION_IN_PROGRESS", undefined, { details: { operation_id: operationId } });

/** A server tries one archive at a time, for a drill or an import. */
export const serverTriesAnother = (operationId: string) =>
  new ApiError(
    "OPERATION_IN_PROGRESS",
    "The server is checking another archive; wait until that is done, or choose another server",
    {
      details: { operation_id: operationId },
    },
  );

/** An instance's code is checked once at a time. */
export const codeInCheck = (operationId: string) =>
  new ApiError("OPERATION_IN_PROGRESS", "The code of this instance is being checked; wait until that is done", {
    details: { operation_id: operationId },
  });

export const deployNotCompleted = (status: string) =>
  invalidState(`The deploy is ${status}; only a completed deploy can be rolled back to`, status);

/** The ERP takes no module back to an older version without its data. */
export const modulesNewer = (status: string, modules: readonly string[]) =>
  invalidState(
    `As of the last deploy, the database has these modules in a higher version than that code: ${modules.join(", ")}. Set restore_database to true to go back with the data`,
    status,
    { modules },
    {
      ...INSTANCE,
      otherwise:
        "The database has modules in a higher version than that code. Set restore_database to true to go back with the data",
      reads: true,
    },
  );

export const noBackupToRollBack = (status: string) =>
  invalidState(
    "There is no backup from before the next deploy, so the data cannot come back with that code",
    status,
    {},
    INSTANCE,
  );

export const preconditionFailed = (etag: string | null) => new ApiError("PRECONDITION_FAILED", undefined, { details: { etag } });

/** The error for `If-None-Match`. */
export const alreadyThere = (etag: string) =>
  new ApiError(
    "PRECONDITION_FAILED",
    "The resource exists in a version that If-None-Match excludes; fetch it, and send its ETag in If-Match to replace it",
    { details: { etag } },
  );

// Each error that needs its own message: thrown where it happens, and declared by the endpoints that can throw it.

/** A unique value that another resource already uses. */
export const valueTaken = (field: string, owner: unknown) =>
  conflict(`This ${field.replace("_", " ")} is already taken`, { field, resource: owner });

export const emailTaken = () => conflict("A user with this email already exists", { field: "email" });

/** What `QUOTA_EXCEEDED` calls the quotas whose names are not those of a resource. */
const QUOTA_NAMES: Partial<Record<QuotaKind, string>> = {
  backup: "backups",
  backup_bytes: "backup_bytes",
  webhook: "webhooks",
  user: "users",
};

export const overQuota = (kind: QuotaKind, limit: number) =>
  new ApiError(
    "QUOTA_EXCEEDED",
    kind === "backup_bytes"
      ? `The account's backups and uploads may have at most ${sizeInWords(limit)}; delete some, or contact the operator to raise the limit`
      : `The account may have at most ${limit} ${kind.replace("ssh_key", "SSH key")}${limit === 1 ? "" : "s"}; contact the operator to raise the limit`,
    { details: { resource: QUOTA_NAMES[kind] ?? kind, limit } },
  );

const sizeInWords = (bytes: number): string =>
  bytes >= 1e12 ? `${bytes / 1e12} TB` : bytes >= 1e9 ? `${bytes / 1e9} GB` : `${bytes} bytes`;

/** The account's quota for each of its instances. */
export const tooManyRepositories = (limit: number) =>
  new ApiError(
    "QUOTA_EXCEEDED",
    `An instance may have at most ${limit} repositor${limit === 1 ? "y" : "ies"}; contact the operator to raise the limit`,
    { details: { resource: "repositories", limit } },
  );

export const quotaChanged = () => new ApiError("CONFLICT", "The operator changed this quota at the same time; try again");

export const serverNotActive = (id: unknown, status: ServerStatus) =>
  invalidState(
    `Server ${String(id)} is ${status}; it must be active`,
    status,
    { resource: id },
    { kind: "server", otherwise: "The server must be active" },
  );

export const serverBusy = (phase: ServerPhase) =>
  invalidState(`The server is ${phaseInWords(phase)}, so it cannot be changed`, serverStatus(phase));

/** A server with instances cannot be deleted. */
export const hasInstances = (count: number) =>
  conflict(
    `The server has ${count} instance${count === 1 ? "" : "s"}; delete ${count === 1 ? "it" : "them"} first`,
    { resource: "instance", count },
    { kind: "instance", otherwise: "The server has instances; delete them first" },
  );

export const actionNotAllowed = (action: InstanceAction, status: string) =>
  invalidState(`The action ${action} is not allowed while the instance is ${status}`, status, {}, INSTANCE);

export const erpNotInstalled = (status: InstanceStatus) =>
  invalidState("No ERP is installed on this instance, so it holds no data", status, {}, INSTANCE);

export const instanceBeingDeleted = (status: string) => invalidState("The instance is being deleted", status, {}, INSTANCE);

export const backupNotCompleted = (status: string) =>
  invalidState(
    `The backup is ${status}; only a completed backup can be used`,
    status,
    {},
    {
      ...BACKUP,
      otherwise: "Only a completed backup can be used",
    },
  );

export const filesMissing = (status: string, missing_files: number, listed_files: number | null) =>
  invalidState(
    `${missing_files} of the ${listed_files} files that the backup's database lists are not in it; set accept_missing_files to true to go on without them`,
    status,
    { missing_files, listed_files },
    {
      ...BACKUP,
      otherwise: "Files that the backup's database lists are not in it; set accept_missing_files to true to go on without them",
      reads: true,
    },
  );

export const backupNotDeletable = (status: string) =>
  invalidState(`The backup is ${status}, so it cannot be deleted`, status, {}, BACKUP);

export const backupLocked = (status: string) =>
  invalidState("The backup is locked; unlock it before you delete it", status, {}, BACKUP);

export const backupNotEditable = (status: string) =>
  invalidState(`The backup is ${status}, so it cannot be changed`, status, {}, BACKUP);

export const backupNotImportable = (status: string) =>
  invalidState(
    `The backup is ${status}, and there is no failed import of it to try again: upload the archive again if you need it`,
    status,
  );

export const serverOfBackupUnknown = () =>
  invalid({ field: "server_id", reason: "is required, because the backup has no instance" });

export const internalDomain = () =>
  invalid({
    field: "domain",
    reason: "must be a public domain: this one is reserved for internal use, or names a cloud's metadata",
  });

export const instanceOfBackupDeleted = () =>
  invalidState("The instance of this backup was deleted; clone from the backup instead", "deleted", {}, INSTANCE);

export const uploadIncomplete = (missing: readonly number[]) =>
  invalidState(
    missing.length === 1
      ? `Part ${missing[0]} of the upload has not arrived`
      : `${missing.length} parts of the upload have not arrived, the first of them part ${missing[0]}`,
    "uploading",
    { missing_parts: missing.slice(0, 100), missing_count: missing.length },
  );

export const backupUploaded = () =>
  invalidState("An uploaded backup has no instance; create an instance from it instead", "uploaded");

/** `uploads` are those that the account has: nothing else lists them. */
export const tooManyUploads = (limit: number, uploads: readonly Readonly<{ id: string; [field: string]: unknown }>[]) =>
  new ApiError(
    "QUOTA_EXCEEDED",
    `The account may have at most ${limit} unfinished uploads; complete or delete one of them first`,
    { details: { resource: "upload", limit, uploads } },
  );

export const tooManyBulks = (limit: number) =>
  new ApiError("QUOTA_EXCEEDED", `The account may have at most ${limit} bulk actions in progress; wait until one of them ends`, {
    details: { resource: "bulk", limit },
  });

export const notControllable = (status: string) =>
  invalidState(
    "Only a bulk action that is in progress, and that nobody has cancelled, can be paused, resumed or cancelled",
    status,
  );

export const uploadTooLarge = (limit: number) =>
  invalid({ field: "size_bytes", reason: `must be at most ${limit} in the test environment` });

export const noSuchPart = (index: number, parts: number) =>
  invalid({ field: `parts.${index}.number`, reason: `must be at most ${parts}, the number of the upload's parts` });

export const wrongPassword = () => new ApiError("UNAUTHORIZED", "Invalid email or password");

export const tooManySignIns = (limit: number, retryAfter?: number) =>
  new ApiError("RATE_LIMIT_EXCEEDED", "Too many failed sign-in attempts; try again after the time in Retry-After", {
    ...(retryAfter !== undefined && { retryAfter }),
    details: { limit, window_seconds: LOGIN_WINDOW_SECONDS, scope: "login" },
  });

export const tooManyRequests = (scope: keyof typeof REQUEST_LIMITS, limit: number, retryAfter?: number) =>
  new ApiError("RATE_LIMIT_EXCEEDED", undefined, {
    ...(retryAfter !== undefined && { retryAfter }),
    details: { limit, window_seconds: WINDOW_SECONDS, scope },
  });

export const webhookDisabled = () => invalidState("The webhook is disabled; enable it first", "disabled");

export const deliveryPending = () => invalidState("The delivery is pending, so it will be sent anyway", "pending");

export const tokenRotated = () => invalidState("The token has been rotated; rotate the one that replaces it", "rotated");

export const noWebhookSecret = (status: string) => invalidState("A webhook of a chat format has no secret", status);

export const tooManyTests = (retryAfter?: number) =>
  new ApiError("RATE_LIMIT_EXCEEDED", undefined, {
    ...(retryAfter !== undefined && { retryAfter }),
    details: { limit: WEBHOOK.testsAMinute, window_seconds: WINDOW_SECONDS, scope: "webhook_test" },
  });

export const tooManyPushes = (retryAfter?: number) =>
  new ApiError("RATE_LIMIT_EXCEEDED", undefined, {
    ...(retryAfter !== undefined && { retryAfter }),
    details: { limit: PUSH.perMinute, window_seconds: WINDOW_SECONDS, scope: "hook" },
  });

export const alertClosed = () => invalidState("The alert is closed, so no mail is sent about it anyway", "closed");

export const tooManyLogReads = (limit: number, retryAfter?: number) =>
  new ApiError("RATE_LIMIT_EXCEEDED", undefined, {
    ...(retryAfter !== undefined && { retryAfter }),
    details: { limit, window_seconds: WINDOW_SECONDS, scope: "logs" },
  });

export const sessionRequired = () => new ApiError("FORBIDDEN", "This endpoint needs a dashboard session");

export const permissionRequired = (permission: Permission) =>
  new ApiError("FORBIDDEN", `Token does not have permission: ${permission}`);

export const roleRequired = (role: RequiredRole) =>
  new ApiError("FORBIDDEN", role === "owner" ? "This action needs the role owner" : "This action needs the role owner or admin");

export const alreadyUser = () => conflict("This email belongs to a user of this account", { field: "email" });

/** The one error for a link in a mail, so that nobody learns what is wrong with it. */
export const linkInvalid = () =>
  new ApiError("UNAUTHORIZED", "This link is not valid: it was used, has expired, or a newer one was sent");

/** The one error for a second factor, so that nobody learns what is wrong with it. */
export const proofInvalid = () =>
  new ApiError("UNAUTHORIZED", "This code or passkey is not valid: it is wrong, was used, or its time is over");

/** The one error for single sign-on, so that nobody learns what is wrong with it. */
export const ssoInvalid = () =>
  new ApiError("UNAUTHORIZED", "This single sign-on is not valid: it was used, has expired, or was begun elsewhere; start again");

/** No account has single sign-on for this email. */
export const noSso = () => new ApiError("NOT_FOUND", "There is no single sign-on for this email");

export const ssoRequired = () => new ApiError("FORBIDDEN", "Sign in with single sign-on");

/** The identity provider is the customer's: what it does wrong is no fault of ours. */
export const providerFailed = (cause?: unknown) =>
  new ApiError("CONFLICT", "The identity provider did not respond as it should; try again, or ask an owner of your account", {
    details: { resource: "sso" },
    cause,
  });

export const emailNotVerified = () =>
  new ApiError("FORBIDDEN", "The identity provider did not confirm an email of one of the account's domains");

export const personMismatch = () =>
  conflict("The user with this email is linked to another person of the identity provider; ask an owner of your account", {
    field: "email",
  });

export const addressNotAllowed = () => new ApiError("FORBIDDEN", "Sign-in is not allowed from this address");

export const txtRecordMissing = () =>
  invalidState("The domain does not have this TXT record yet; a change of DNS can take an hour", "unverified");

export const domainTaken = () => conflict("This domain belongs to another account", { field: "name" });

/** What a second factor is asked for with. */
export const EXAMPLE_CHALLENGE = {
  challenge: "YTFiMmMzLmRFNmY3RzhoOWo",
  methods: ["passkey", "totp", "recovery_code"],
  passkey_options: {
    challenge: "YTFiMmMzLmRFNmY3RzhoOWo",
    rpId: "erp.example.com",
    allowCredentials: [{ id: "0pIh2mC5hS3QO4Wm0i8T9A", type: "public-key", transports: ["internal"] }],
    timeout: SECOND_FACTORS.challengeMinutes * MINUTE_MS,
    userVerification: "preferred",
  },
};

export const secondFactorRequired = (details: ErrorDetails) => new ApiError("SECOND_FACTOR_REQUIRED", undefined, { details });

export const reauthenticationRequired = (details: ErrorDetails) =>
  new ApiError("REAUTHENTICATION_REQUIRED", undefined, { details });

export const setUpRequired = () => new ApiError("SECOND_FACTOR_SETUP_REQUIRED");

export const ownFactors = () =>
  conflict("These are your own second factors; remove them one by one in your account", { resource: "user" });

export const factorExists = () => conflict("You have an authenticator app; remove it first", { resource: "second_factor" });

export const passkeyExists = () => conflict("This passkey is one of yours already", { resource: "second_factor" });

export const noSecondFactor = () =>
  conflict("You have no second factor; set up a passkey or an authenticator app first", { resource: "second_factor" });

export const tooManyPasskeys = () =>
  new ApiError("QUOTA_EXCEEDED", `You may have at most ${SECOND_FACTORS.passkeys} passkeys; remove one first`, {
    details: { resource: "passkey", limit: SECOND_FACTORS.passkeys },
  });

export const tooManyInvitations = (retryAfter: number) =>
  new ApiError("RATE_LIMIT_EXCEEDED", undefined, {
    retryAfter,
    details: { limit: INVITATION.perDay, window_seconds: INVITATION.windowSeconds, scope: "invitation" },
  });

export const lastOwner = () =>
  conflict("This is the account's last owner; make another user an owner first", { resource: "user" });

export const methodNotAllowed = (allowed: string) => new ApiError("METHOD_NOT_ALLOWED", `This path supports only: ${allowed}`);

/** An ID in a body that names nothing. */
export const noSuch = (field: string, resource: string): Problem => ({ field, reason: `no such ${resource} in this account` });

export const noneInAccount = (field: string, resource: string) => invalid(noSuch(field, resource));

/** Why a value is not one of those that there are. */
export const mustBeOneOf = (values: readonly unknown[]): string => `must be one of: ${values.join(", ")}`;

export const unknownField = (field: string): Problem => ({ field, reason: "is not a known field" });

/** Largest data of a sandbox instance, in bytes of JSON. */
export const SANDBOX_DATA_BYTES = 4096;
export const dataTooLarge = (): Problem => ({ field: "data", reason: `must be at most ${SANDBOX_DATA_BYTES} bytes of JSON` });

export const notCurrentPassword = () => invalid({ field: "current_password", reason: "is not the current password" });

/** The first request with an `Idempotency-Key` is still running, or its work could not be started yet. */
export const firstInProgress = (cause?: unknown) => new ApiError("IDEMPOTENCY_IN_PROGRESS", undefined, { retryAfter: 1, cause });

/** A body for an endpoint that has none. */
export const contentEncodingNotTaken = () =>
  new ApiError("UNSUPPORTED_MEDIA_TYPE", "Content-Encoding must be gzip, deflate or identity");
export const bodyNotTaken = () => new ApiError("MALFORMED_REQUEST", "This request takes no body");

/** Seconds to wait before a retry when a dependency is down. */
const OUTAGE_RETRY_SECONDS = 5;

export const unavailable = (cause?: unknown) =>
  new ApiError("SERVICE_UNAVAILABLE", undefined, { retryAfter: OUTAGE_RETRY_SECONDS, ...(cause !== undefined && { cause }) });

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
  "CODE_UNREACHABLE",
  "CODE_INVALID",
  "BUILD_FAILED",
  "REHEARSAL_FAILED",
  "UPDATE_FAILED",
  "HEALTH_CHECK_FAILED",
  "TIMEOUT",
  "CANCELLED",
  "INTERNAL_ERROR",
] as const;
export type OperationErrorCode = (typeof OPERATION_ERRORS)[number];
