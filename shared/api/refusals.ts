// The errors that endpoints declare, as a reader of the API page sees them. Those that follow from the rest of an
// endpoint's declaration (401, 404, 422 …) are derived in openapi.ts instead.
import { DEFAULT_QUOTAS, LOGIN_FAILURES, LOGIN_WINDOW_SECONDS, type QuotaKind } from "../domain/limits.ts";
import type { ErrorCode, ErrorDetails } from "./errors.ts";
import { exampleId, type IdKind } from "../domain/id-kinds.ts";

/** An error that an endpoint may return; without a message, the code's default message is used. */
export interface Refusal {
  code: ErrorCode;
  message?: string;
  details?: ErrorDetails;
}

/** A unique value that another resource already uses. */
export const taken = (field: string, owner: IdKind): Refusal => ({
  code: "CONFLICT",
  message: `This ${field} is already taken`,
  details: { field, resource: exampleId(owner) },
});

export const overQuota = (resource: QuotaKind): Refusal => ({
  code: "QUOTA_EXCEEDED",
  message: `The account may have at most ${DEFAULT_QUOTAS[resource]} ${resource.replace("_", " ")}s; contact the operator to raise the limit`,
  details: { resource, limit: DEFAULT_QUOTAS[resource] },
});

export const busy: Refusal = { code: "OPERATION_IN_PROGRESS", details: { operation_id: exampleId("operation") } };

export const wrongState = (status: string, message: string): Refusal => ({ code: "INVALID_STATE", message, details: { status } });

export const serverNotActive: Refusal = {
  code: "INVALID_STATE",
  message: `Server ${exampleId("server")} is offline; it must be active`,
  details: { status: "offline", resource: exampleId("server") },
};

export const backupNotCompleted = wrongState("running", "The backup is running; only a completed backup can be used");

/** A server with instances cannot be deleted. */
export const hasInstances: Refusal = {
  code: "CONFLICT",
  message: "The server has 2 instances; delete them first",
  details: { resource: "instance", count: 2 },
};

export const wrongPassword: Refusal = { code: "UNAUTHORIZED", message: "Invalid email or password" };

export const tooManySignIns: Refusal = {
  code: "RATE_LIMIT_EXCEEDED",
  message: "Too many failed sign-in attempts; try again after the time in Retry-After",
  details: { limit: LOGIN_FAILURES.pair, window_seconds: LOGIN_WINDOW_SECONDS, scope: "login" },
};
