// The responses of an endpoint: its success, and every error that follows from its declaration or is declared.
import { REQUEST_LIMITS } from "../../domain/limits.ts";
import {
  ApiError,
  EXAMPLE_CHALLENGE,
  bodyNotTaken,
  dataTooLarge,
  type ErrorCode,
  ERRORS,
  invalid,
  notFound,
  permissionRequired,
  preconditionFailed,
  roleRequired,
  type Problem,
  reauthenticationRequired,
  sessionRequired,
  setUpRequired,
  tooManyRequests,
  unknownField,
} from "../errors.ts";
import { DryRun } from "../dry-run.ts";
import type { Route } from "../index.ts";
import {
  type Components,
  type Empty,
  type Example,
  type Header,
  type Media,
  type Operation,
  ref,
  type Reference,
  type Response,
  type Schema,
} from "./document.ts";
import { EXAMPLE_ETAG, resourceIn } from "./parameters.ts";
import { dataExample, buildExample, resolve, toSchema } from "./schemas.ts";
import { WHEN } from "./words.ts";

export const HEADERS: Record<string, Header> = {
  "X-Request-ID": { description: "Identifies the request, also in the service's logs", schema: { type: "string" } },
  "X-RateLimit-Limit": {
    description: "Requests per minute that the limit closest to being reached allows",
    schema: { type: "integer", format: "int64" },
  },
  "X-RateLimit-Remaining": { description: "Requests left under that limit", schema: { type: "integer", format: "int64" } },
  "X-RateLimit-Reset": {
    description: "When the next request becomes available, in Unix seconds",
    schema: { type: "integer", format: "int64" },
  },
  ETag: { description: "The version of the resource, to send as `If-Match` or `If-None-Match`", schema: { type: "string" } },
  Location: { description: "Path of the new resource, or of the operation that was started", schema: { type: "string" } },
  "Retry-After": { description: "Seconds to wait before you retry", schema: { type: "integer", format: "int64" } },
  "Idempotent-Replayed": {
    description: "Set if this is the stored response to the first request with this `Idempotency-Key`",
    schema: { type: "string", enum: ["true"] },
  },
};

const headersNamed = (...names: string[]): Response["headers"] =>
  Object.fromEntries(["X-Request-ID", ...names].map((name) => [name, ref("headers", name)]));

const LIMIT_HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

export const NOT_MODIFIED: Empty = {
  description: "Not modified since the version in `If-None-Match`",
  headers: headersNamed("ETag"),
};

/** The success of an endpoint, and of its dry run. */
export function describeSuccesses(route: Route, data: Schema, components: Components): Record<string, Response> {
  if (!route.dryRun) return { [route.status]: describeSuccess(route, data, components) };
  const dryRun = toSchema(DryRun, "response", components);
  if (route.status === 200) return { 200: describeSuccess(route, data, components, { anyOf: [data, dryRun] }) };
  return {
    [route.status]: describeSuccess(route, data, components),
    200: {
      description: "With `dry_run=true`: what the request would do",
      headers: headersNamed(...LIMIT_HEADERS),
      content: {
        "application/json": {
          schema: {
            type: "object",
            properties: { success: { const: true }, data: dryRun },
            required: ["success", "data"],
          },
          example: { success: true, data: buildExample(dryRun, components) },
        },
      },
    },
  };
}

/** `schema` is what the response has, if it can be more than `data`. */
function describeSuccess(route: Route, data: Schema, components: Components, schema = data): Response {
  const example = dataExample(route, data, components);
  const meta = ref("schemas", "ListMeta");
  const enveloped: Media = {
    schema: {
      type: "object",
      properties: { success: { const: true }, data: schema, ...(route.list && { meta }) },
      required: ["success", "data", ...(route.list ? ["meta"] : [])],
    },
    example: { success: true, data: example, ...(route.list && { meta: buildExample(meta, components) }) },
  };
  return {
    description: { 200: "OK", 201: "Created", 202: "Accepted: follow the operation for its progress" }[route.status],
    headers: headersNamed(
      ...(route.access === "public" ? [] : LIMIT_HEADERS),
      ...(route.unversioned === undefined ? [] : ["ETag"]),
      ...(route.status === 200 || route.access === "public" ? [] : ["Location"]),
      ...(route.storesResponse ? ["Idempotent-Replayed"] : []),
    ),
    content: { "application/json": route.unenveloped ? { schema: data, example } : enveloped },
  };
}

export const FAILURE: Schema = {
  type: "object",
  properties: {
    success: { const: false },
    error: {
      type: "object",
      properties: {
        code: { type: "string", description: "For programs. New codes may appear.", examples: ["NOT_FOUND"] },
        message: { type: "string", description: "For people", examples: [ERRORS.NOT_FOUND.message] },
        details: { type: "object", description: "Depends on the code; see the table of errors", additionalProperties: true },
      },
      required: ["code", "message"],
    },
  },
  required: ["success", "error"],
};

/** Every error that an endpoint can return, by status. */
export function describeFailures(route: Route, body: Schema | undefined, components: Components): Operation["responses"] {
  const byStatus = Map.groupBy(listErrors(route, body, components), ({ code }) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, errors]) => [
      String(status),
      describeFailure(errors, route.access !== "public" && isCounted(status) ? LIMIT_HEADERS : [], components),
    ]),
  );
}

/** Whether the response is the service's own and to a known caller: a 401 is to nobody, and a 500 or 503 may be the gateway's. */
const isCounted = (status: number): boolean => status !== 401 && status < 500;

function listErrors(route: Route, body: Schema | undefined, components: Components): ApiError[] {
  const { method, access, role, bodyPermission, fieldPermission, proof, path, rate, idempotent, conditional, unreadBytes } =
    route;
  const errors: ApiError[] = [];
  if (unreadBytes !== undefined) errors.push(...codes("PAYLOAD_TOO_LARGE"));
  else if (body !== undefined) errors.push(...codes("MALFORMED_REQUEST", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"));
  else if (method !== "GET") errors.push(bodyNotTaken());
  if (access !== "public") errors.push(...codes("UNAUTHORIZED"), tooManyRequests("all", REQUEST_LIMITS.all));
  if (rate === "create_delete") errors.push(tooManyRequests("create_delete", REQUEST_LIMITS.create_delete));
  if (access !== "public" && !path.startsWith("/auth/")) errors.push(setUpRequired());
  if (access === "session") errors.push(sessionRequired());
  if (role !== undefined) errors.push(roleRequired(role));
  const permissions = Array.isArray(access) ? access : Object.values(bodyPermission?.permissions ?? {});
  for (const permission of new Set([...permissions, ...(fieldPermission === undefined ? [] : [fieldPermission.permission])]))
    errors.push(permissionRequired(permission));
  if (proof !== undefined) errors.push(reauthenticationRequired(EXAMPLE_CHALLENGE));
  if (path.includes("/:") && access !== "public") errors.push(notFound(resourceIn(path)?.words ?? "resource"));
  if (conditional) errors.push(preconditionFailed(EXAMPLE_ETAG));
  errors.push(invalid(findProblem(unreadBytes === undefined ? body : undefined, components)), ...route.errors());
  if (idempotent) errors.push(...codes("IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_KEY_REUSED"));
  // The gateway's own throttle comes before anyone is known, so it has no details.
  errors.push(...(access === "public" ? codes("RATE_LIMIT_EXCEEDED") : []), ...codes("INTERNAL_ERROR", "SERVICE_UNAVAILABLE"));
  return errors;
}

const codes = (...names: ErrorCode[]): ApiError[] => names.map((code) => new ApiError(code));

/** A problem that a request to this endpoint can really have; every endpoint rejects an unknown parameter. */
function findProblem(body: Schema | undefined, components: Components): Problem {
  const { required: [first] = [], additionalProperties } = body === undefined ? {} : resolve(body, components);
  if (first !== undefined) return { field: first, reason: "is required" };
  if (additionalProperties === false) return unknownField("colour");
  if (body !== undefined) return dataTooLarge();
  return unknownField("colour");
}

/** An error response as a component, so that endpoints with the same errors share one. */
function describeFailure(errors: readonly ApiError[], headers: readonly string[], { responses }: Components): Reference {
  const examples: Record<string, Example> = {};
  for (const { code, message, details } of errors)
    examples[freeName(code, examples)] = {
      value: { success: false, error: { code, message, ...(details !== undefined && { details }) } },
    };
  const distinct = [...new Set(errors.map(({ code }) => code))];
  const waits = distinct.some((code) => WAITING.includes(code));
  const response: Response = {
    description: distinct.map((code) => `\`${code}\`: ${WHEN[code]}`).join(". "),
    headers: headersNamed(...headers, ...(waits ? ["Retry-After"] : [])),
    content: { "application/json": { schema: ref("schemas", "Failure"), examples } },
  };
  const text = JSON.stringify(response);
  const [same] = Object.entries(responses).find(([, other]) => JSON.stringify(other) === text) ?? [];
  const name = same ?? freeName(distinct[0] ?? "", responses);
  responses[name] = response;
  return ref("responses", name);
}

/** The errors that say when to retry. */
const WAITING: readonly ErrorCode[] = ["RATE_LIMIT_EXCEEDED", "SERVICE_UNAVAILABLE", "IDEMPOTENCY_IN_PROGRESS"];

/** The name, or if it is taken, the name with a number. */
function freeName(name: string, used: Record<string, unknown>): string {
  let free = name;
  for (let number = 2; Object.hasOwn(used, free); number++) free = `${name}.${number}`;
  return free;
}
