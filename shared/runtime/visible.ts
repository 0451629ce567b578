// What an error may name: nothing that the credential may not read.
import { ApiError } from "../api/errors.ts";
import type { Permission } from "../api/permissions.ts";
import { isId } from "../domain/ids.ts";
import { RESOURCE_TYPES } from "../domain/lifecycle.ts";

/** The error without the resources of which the caller could not get the page either. */
export function visibleTo(permissions: readonly Permission[], error: unknown): unknown {
  if (!(error instanceof ApiError) || error.details === undefined) return error;
  const { resource, uploads, ...details } = error.details;
  const kind = RESOURCE_TYPES.find((each) => typeof resource === "string" && isId(each, resource));
  const named = kind === undefined || permissions.includes(`${kind}s:read`);
  const listed = uploads === undefined || permissions.includes("backups:read");
  if (named && listed) return error;
  const message = named ? error.message : error.message.replace(new RegExp(`${kind} ${String(resource)}`, "i"), `The ${kind}`);
  return new ApiError(error.code, message, {
    details: { ...details, ...(named && { resource }), ...(listed && uploads !== undefined && { uploads }) },
    ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
    cause: error.cause,
  });
}
