// What an error may name: nothing that the credential may not read.
import * as z from "zod";
import { ApiError, ERRORS, type ErrorDetails } from "../api/errors.ts";
import { keys } from "../data/keys.ts";
import type { Caller } from "../records/schemas/caller.ts";
import { find } from "../data/table.ts";
import { isId } from "../domain/ids.ts";
import { RESOURCE_TYPES, type ResourceType } from "../domain/lifecycle.ts";

/** The error without what the caller could not read either. */
export async function visibleTo(caller: Caller, error: unknown): Promise<unknown> {
  if (!(error instanceof ApiError) || error.details === undefined) return error;
  const { permissions } = caller;
  const mayRead = (kind: ResourceType): boolean => permissions.includes(`${kind}s:read`);
  const { about, details } = error;
  const knows = ({ kind, reads }: NonNullable<typeof about>): boolean =>
    reads ? mayRead(kind) : permissions.some((each) => each.startsWith(`${kind}s:`));
  if (about !== undefined && !knows(about)) return withDetails(error, {}, about.otherwise ?? ERRORS[error.code].message);
  const { resource, uploads, operation_id } = details;
  const hidden: string[] = [];
  if (uploads !== undefined && !mayRead("backup")) hidden.push("uploads");
  if (typeof operation_id === "string" && !RESOURCE_TYPES.every(mayRead) && !(await mayReadOperation(caller, operation_id)))
    hidden.push("operation_id");
  const kind = RESOURCE_TYPES.find((each) => typeof resource === "string" && isId(each, resource));
  const isNamed = kind === undefined || mayRead(kind);
  if (!isNamed) hidden.push("resource");
  if (hidden.length === 0) return error;
  const message = isNamed ? error.message : error.message.replace(new RegExp(`${kind} ${String(resource)}`, "i"), `The ${kind}`);
  return withDetails(error, Object.fromEntries(Object.entries(details).filter(([name]) => !hidden.includes(name))), message);
}

const withDetails = ({ code, retryAfter, cause }: ApiError, details: ErrorDetails, message: string): ApiError =>
  new ApiError(code, message, { details, ...(retryAfter !== undefined && { retryAfter }), cause });

const Readable = z.object({ resource: z.object({ type: z.string() }), created_by: z.object({ id: z.string() }) });

/** Whether a caller may read an operation, as `GET /operations/:id` decides it. */
async function mayReadOperation({ account_id, id, permissions }: Caller, operationId: string): Promise<boolean> {
  const operation = await find({ key: keys.record("operation", account_id, operationId), schema: Readable });
  if (operation === undefined) return false;
  return operation.created_by.id === id || permissions.some((each) => each === `${operation.resource.type}s:read`);
}
