// The refusals that endpoints declare, as a reader of the API page meets them. Those that follow from the rest of an
// endpoint's declaration (401, 404, 422 …) are not declared but derived, in openapi.ts.
import { DEFAULT_QUOTAS, LOGIN_FAILURES, LOGIN_WINDOW_SECONDS, type QuotaKind } from "../domain/limits.ts";
import type { ErrorCode, ErrorDetails } from "./errors.ts";
import { exampleId, type IdKind } from "./fields.ts";

/** One answer that an endpoint may give instead of what was asked for; without a message it is the code's own. */
export interface Refusal {
  code: ErrorCode;
  message?: string;
  details?: ErrorDetails;
}

/** A unique value that another resource has. */
export const taken = (field: string, owner: IdKind): Refusal => ({
  code: "CONFLICT",
  message: `This ${field} is already taken`,
  details: { field, resource: exampleId(owner) },
});

export const overQuota = (resource: QuotaKind): Refusal => ({
  code: "QUOTA_EXCEEDED",
  message: `The account may have at most ${DEFAULT_QUOTAS[resource]} ${resource.replace("_", " ")}s; ask the operator for more`,
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
  message: "Too many failed sign-ins; try again after the time in Retry-After",
  details: { limit: LOGIN_FAILURES.pair, window_seconds: LOGIN_WINDOW_SECONDS, scope: "login" },
};
