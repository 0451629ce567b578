// Responses in the gateway's format: always in the envelope, always with the request's ID.
import type { APIGatewayProxyResult } from "aws-lambda";
import { ApiError, unavailable } from "../api/errors.ts";
import type { ListMeta } from "../api/fields.ts";
import { isOutage } from "../platform/outages.ts";

type Headers = Record<string, string | number>;

const HEADERS = { "content-type": "application/json", "cache-control": "no-store", "x-content-type-options": "nosniff" };

export const success = (status: number, data: unknown, meta: ListMeta | undefined, headers: Headers): APIGatewayProxyResult =>
  unenveloped(status, { success: true, data, ...(meta !== undefined && { meta }) }, headers);

/** A document that is not wrapped. */
export const unenveloped = (statusCode: number, document: unknown, headers: Headers): APIGatewayProxyResult => ({
  statusCode,
  headers: { ...HEADERS, ...headers },
  body: JSON.stringify(document),
});

export function failure(error: ApiError, headers: Headers): APIGatewayProxyResult {
  const { code, message, details, retryAfter } = error;
  return unenveloped(
    error.status,
    { success: false, error: { code, message, ...(details !== undefined && { details }) } },
    { ...headers, ...(retryAfter !== undefined && { "Retry-After": retryAfter }) },
  );
}

/** The error that a client gets: our own unchanged, 503 for a dependency's outage, and no details of a bug. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isOutage(error)) return unavailable(error);
  return new ApiError("INTERNAL_ERROR", undefined, { cause: error });
}
