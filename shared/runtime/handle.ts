// Turns an endpoint and its behavior into the Lambda handler that API Gateway calls.
//
// One place does every check, in one order: 405, 429, 403, 413/415/400, 422 for the shape, Idempotency-Key. What is left to the
// handler are the resources: 404 for the path's, 422 for ids inside the body, 409.
import middy, { type MiddlewareObj } from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import * as z from "zod";
import type { DataIn, Endpoint, RequestOf } from "../api/endpoint.ts";
import {
  alreadyThere,
  ApiError,
  bodyNotTaken,
  methodNotAllowed,
  permissionRequired,
  preconditionFailed,
  sessionRequired,
  setUpRequired,
  tooManyRequests,
  type Problem,
} from "../api/errors.ts";
import type { ListMeta } from "../api/fields.ts";
import type { Permission } from "../api/permissions.ts";
import type { Change } from "../data/change.ts";
import type { By } from "../records/events.ts";
import { requireProof } from "../operations/sign-in/proof-required.ts";
import { requireRole } from "../operations/credentials/roles.ts";
import type { Caller } from "../records/schemas/caller.ts";
import type { Version } from "../data/versions.ts";
import { isDryRun } from "../domain/dry-run.ts";
import { matches, matchesWeakly, tagsIn } from "../domain/etag.ts";
import { parseBody } from "./body.ts";
import { log } from "../platform/log.ts";
import { allowedAt } from "./methods.ts";
import { bypassedCloudFront, clientAddress, dashboardOrigin } from "./origin.ts";
import { asApiError, failure, success } from "./reply.ts";
import { readAuthorization, authorizedIn, header, headerLines, requestId } from "./request-context.ts";
import { buildHeaders, locationHeader, buildResponse, createEtagger } from "./responses.ts";
import { AlreadyDone, type Forecasting, openStore, type Read } from "./request-store.ts";
import { createShaper } from "./shape.ts";
import { requireNone, tryParse } from "../api/parse.ts";
import { visibleTo } from "./visible.ts";

type Commits<E extends Endpoint> = (
  change: Change,
  data: DataIn<E>,
  ...forecast: E extends { dryRun: true } ? [Forecasting] : []
) => Promise<DataIn<E>>;

/** What a handler receives besides the parts of the request: reads and writes that support `Idempotency-Key`. */
type Request<E extends Endpoint> = RequestOf<E> & {
  /** The caller, and the request. */
  by: By;
  caller: Caller;
  /** The address from which the request came. */
  ipAddress: string | null;
  /** The program that sent it, as the client says. */
  userAgent: string | null;
  /** The languages that the client would like, as it sends them. */
  acceptLanguage: string | undefined;
  requestId: string;
  /** Returns the dashboard's origin: passkeys are for it alone. */
  origin: () => string;
  /** The host that the request came to. */
  host: string;
  /** The client wants headers only: a `GET` that writes something must not do so. */
  isHead: boolean;
  /** Several records in one call. */
  read: Read;
  /**
   * Rejects the request (412) if its `If-Match` does not match, or its `If-None-Match` does, and the change if the record has
   * changed when it is written; no tag matches what is not there.
   */
  match: (change: Change, version: Version | undefined) => void;
  /** The same for a write without a `Change`. */
  matchTag: (etag: string) => void;
  /** The same for a resource that is only partly in the table; its tag is computed only if the request has an `If-Match`. */
  matchFound: (etag: () => Promise<string>) => Promise<void>;
  /**
   * Writes the change with the response for replays, and starts the operation that it created. In a dry run it only checks the
   * change's conditions, and leaves the handler with the forecast.
   */
  commit: Commits<E>;
};

/** What a handler returns: the data, or a page of a list. */
type Reply<E extends Endpoint> = E extends { list: true; data: z.ZodType<(infer T)[]> }
  ? { items: T[]; meta: ListMeta }
  : DataIn<E>;

type Handling = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

/** A body that nobody reads, whatever it is. */
const unreadBody = (bytesMax: number): Handling => ({
  before: ({ event }) => {
    const bytes = Buffer.byteLength(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8");
    if (bytes > bytesMax) throw new ApiError("PAYLOAD_TOO_LARGE");
    event.body = "{}";
  },
});

/**
 * A body where none is taken is an error: whoever sends one expects something of it. Some clients always send an empty object.
 */
const NO_BODY: Handling = {
  before: ({ event }) => {
    if (event.httpMethod !== "GET" && event.httpMethod !== "HEAD" && !/^\s*(?:\{\s*\}\s*)?$/.test(event.body ?? ""))
      throw bodyNotTaken();
  },
};

function bodyHandling({ body, unreadBytes }: Endpoint): Handling {
  if (unreadBytes !== undefined) return unreadBody(unreadBytes);
  return body === undefined ? NO_BODY : parseBody();
}

export const handle =
  <const E extends Endpoint>(define: () => E) =>
  (run: (request: Request<E>) => Promise<Reply<E>>) => {
    const endpoint = define();
    const shape = createShaper(endpoint.data);
    const tagOf = createEtagger(endpoint);
    const lists = repeatableParameters(endpoint);
    return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
      .use(respond(endpoint))
      .use(authorize(endpoint))
      .use(bodyHandling(endpoint))
      .handler(async (event) => {
        const context = buildContext(endpoint, event);
        const problems: Problem[] = [];
        const body =
          endpoint.body && endpoint.unreadBytes === undefined ? tryParse(endpoint.body, event.body, problems) : undefined;
        const parameters = readQuery(event, lists, problems);
        const query = tryParse(endpoint.dryRun ? DRY_RUN : (endpoint.query ?? NOTHING), parameters, problems);
        requireNone(problems);
        if (endpoint.bodyPermission) requirePermission(context.caller, permissionIn(endpoint, body));
        const { fieldPermission } = endpoint;
        if (fieldPermission !== undefined && AnyObject.parse(body)[fieldPermission.field] !== undefined)
          requirePermission(context.caller, fieldPermission.permission);
        const store = openStore(endpoint, { shape, by: context, event, body });
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schemas that parsed it are the ones its type is made of
        const request = {
          params: readParams(event),
          query,
          body,
          by: context,
          ...context,
          ipAddress: context.caller.ip_address,
          userAgent: header(event.headers, "user-agent")?.slice(0, USER_AGENT_CHARACTERS) ?? null,
          acceptLanguage: header(event.headers, "accept-language"),
          origin: () => dashboardOrigin(event.headers),
          host: header(event.headers, "host") ?? "",
          isHead: event.httpMethod === "HEAD",
          ...storeAfterProof(
            store,
            needsProof(endpoint, event, body) ? () => requireFreshProof(context.caller, event) : undefined,
          ),
          ...readCondition(endpoint, event),
        } as unknown as Request<E>;
        const reply = await run(request)
          .catch(async (error: unknown) => {
            // What is there by now decides, and the error names it.
            if (store.lostTo(error)) return run(request);
            throw error;
          })
          .catch(async (error: unknown) => {
            throw await visibleTo(context.caller, (await store.overtaken(error)) ?? error);
          });
        if (isDryRun(endpoint, event.queryStringParameters))
          return success(200, store.rehearsed(), undefined, buildHeaders(endpoint, event));
        return buildResponse(endpoint, { shape, tagOf }, reply, event);
      });
  };

/** Whether the request needs a fresh proof of a second factor, from a session. */
const needsProof = ({ proof, ...endpoint }: Endpoint, event: APIGatewayProxyEvent, body: unknown): boolean =>
  proof !== undefined &&
  !isDryRun(endpoint, event.queryStringParameters) &&
  proof({ id: readParams(event)["id"], body: AnyObject.catch({}).parse(body), callerId: readAuthorization(event).caller.id });

const requireFreshProof = (caller: Caller, event: APIGatewayProxyEvent): Promise<void> =>
  requireProof(caller, () => dashboardOrigin(event.headers));

type Store = Pick<ReturnType<typeof openStore>, "read" | "commit">;

/**
 * Asks for the proof before the first read, or the write: after every other 403 of a handler, and before anything that it does.
 */
function storeAfterProof(store: Store, prove: (() => Promise<void>) | undefined): Store {
  let proven: Promise<void> | undefined;
  return {
    read: async (refs, work) => {
      await (proven ??= prove?.());
      return store.read(refs, work);
    },
    commit: async (...args) => {
      await (proven ??= prove?.());
      return store.commit(...args);
    },
  };
}

/** Returns every error in the envelope, and replays a stored response. */
function respond(endpoint: Endpoint): Handling {
  return {
    before: ({ event }) => {
      startTimes.set(event, performance.now());
      const { request_id, caller } = authorizedIn(event) ?? {};
      log.setKeys({
        request_id: request_id ?? requestId(event),
        endpoint: event.resource,
        account: caller?.account_id,
        credential: caller?.id,
        ip_address: endpoint.access === "public" ? clientAddress(event.headers) : caller?.ip_address,
      });
    },
    after: logResponse,
    onError: (request) => {
      const { event, error } = request;
      const headers = buildHeaders(endpoint, event);
      if (error instanceof AlreadyDone) {
        const { status, location, data } = error.response;
        request.response = success(status, data, undefined, {
          ...headers,
          ...locationHeader(location),
          "Idempotent-Replayed": "true",
        });
        logResponse(request);
        return;
      }
      const apiError = asApiError(error);
      if (apiError.code === "METHOD_NOT_ALLOWED") headers["Allow"] = allowedAt(event.resource);
      if (apiError.status >= 500)
        log.error("request failed", { error: apiError.cause instanceof Error ? apiError.cause : apiError });
      request.response = failure(apiError, headers);
      logResponse(request);
    },
  };
}

const startTimes = new WeakMap<APIGatewayProxyEvent, number>();

/** One log line per request, so that you can find each by its ID. */
function logResponse({
  event,
  response,
}: {
  event: APIGatewayProxyEvent;
  response?: APIGatewayProxyResult | null | undefined;
}): void {
  const duration_ms = Math.round(performance.now() - (startTimes.get(event) ?? performance.now()));
  log.info("request", { status: response?.statusCode, duration_ms });
}

const hasMethod = ({ method }: Endpoint, requested: string): boolean =>
  requested === method || (method === "GET" && requested === "HEAD");

/** 405, 429 and 403: the authorizer has found the credential and counted the request; this decides on the response. */
function authorize(endpoint: Endpoint): Handling {
  return {
    before: ({ event }) => {
      // The authorizer has checked all others.
      if (endpoint.access === "public" && clientAddress(event.headers) === undefined) throw bypassedCloudFront();
      if (!hasMethod(endpoint, event.httpMethod)) throw methodNotAllowed(allowedAt(event.resource));
      if (endpoint.access === "public") return;
      const { caller, limits } = readAuthorization(event);
      if (limits.refused) {
        const { scope, limit, retry_after } = limits.refused;
        throw tooManyRequests(scope, limit, retry_after);
      }
      if (caller.must_set_up === true && !endpoint.path.startsWith("/auth/")) throw setUpRequired();
      if (endpoint.access === "session" && caller.type !== "user") throw sessionRequired();
      if (endpoint.role !== undefined) requireRole(caller, endpoint.role);
      const { fieldRole } = endpoint;
      if (fieldRole?.fields.some((field) => hasField(event.body, field))) requireRole(caller, fieldRole.role);
      if (Array.isArray(endpoint.access)) for (const permission of endpoint.access) requirePermission(caller, permission);
    },
  };
}

// Built once: building a schema costs more than all parsing of a request.
const AnyObject = z.looseObject({});

/**
 * Whether a body has a field, before anything of it is checked; one that is no JSON has none. What it decides is checked again
 * once the body is known.
 */
function hasField(body: string | null, field: string): boolean {
  try {
    return AnyObject.safeParse(JSON.parse(body ?? "")).data?.[field] !== undefined;
  } catch {
    return false;
  }
}

/** Throws the 403 that names the missing permission. */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (!caller.permissions.includes(permission)) throw permissionRequired(permission);
}

/** The session of a signed-in user; endpoints with access `session` have one. */
export function requireSession(caller: Caller): string {
  if (caller.session_id === undefined) throw new Error("A session was expected");
  return caller.session_id;
}

function permissionIn({ bodyPermission }: Endpoint, body: unknown): Permission {
  const value = AnyObject.parse(body)[bodyPermission?.field ?? ""];
  const permission = bodyPermission?.permissions[String(value)];
  if (permission === undefined) throw new Error(`No permission is declared for ${String(value)}`);
  return permission;
}

/**
 * A REST API passes path parameters as the client wrote them. Broken encoding identifies nothing: with its `%` it is not an ID.
 */
const readParams = ({ pathParameters }: APIGatewayProxyEvent): Record<string, string> =>
  Object.fromEntries(Object.entries(pathParameters ?? {}).map(([name, value = ""]) => [name, decoded(value)]));

function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const NOTHING = z.strictObject({});
const DRY_RUN = z.strictObject({ dry_run: z.enum(["true", "false"]).optional() });

/** The query's parameters that may be repeated, and so arrive as arrays. */
const repeatableParameters = ({ query }: Endpoint): string[] =>
  query instanceof z.ZodObject
    ? Object.entries(query.shape).flatMap(([name, schema]) =>
        schema instanceof z.ZodOptional && schema.unwrap() instanceof z.ZodArray ? [name] : [],
      )
    : [];

/** Any other parameter that is repeated has no single value, so it is invalid. */
function readQuery(
  event: APIGatewayProxyEvent,
  lists: readonly string[],
  problems: Problem[],
): Record<string, string | string[] | undefined> {
  const all = event.multiValueQueryStringParameters ?? {};
  for (const [name, values] of Object.entries(all))
    if ((values?.length ?? 0) > 1 && !lists.includes(name)) problems.push({ field: name, reason: "must not be repeated" });
  const query = event.queryStringParameters ?? {};
  const repeated = lists.filter((name) => all[name] !== undefined);
  return repeated.length === 0 ? query : { ...query, ...Object.fromEntries(repeated.map((name) => [name, all[name]])) };
}

/** As many characters as are stored of a user agent. */
const USER_AGENT_CHARACTERS = 256;

/** The caller of a public endpoint, who has no permissions. */
const NOBODY: Omit<Caller, "ip_address"> = { account_id: "", type: "user", id: "", name: "", permissions: [] };

function buildContext(endpoint: Endpoint, event: APIGatewayProxyEvent): By {
  if (endpoint.access === "public") {
    const caller = { ...NOBODY, ip_address: clientAddress(event.headers) ?? null };
    return { caller, requestId: requestId(event) };
  }
  const { caller, request_id, in_bulk } = readAuthorization(event);
  return { caller, requestId: request_id, inBulk: in_bulk !== undefined };
}

/** Whether the resource is the version that the client means. */
function readCondition(
  endpoint: Endpoint,
  event: APIGatewayProxyEvent,
): Pick<Request<Endpoint>, "match" | "matchTag" | "matchFound"> {
  const header = endpoint.conditional ? headerLines(event, "if-match") : undefined;
  const tags = header === undefined ? "*" : tagsIn(header);
  const unwanted = endpoint.upserts ? headerLines(event, "if-none-match") : undefined;
  const matchTag = (etag: string) => {
    if (!matches(tags, etag)) throw preconditionFailed(etag);
  };
  return {
    matchTag,
    matchFound: async (etag) => {
      if (tags !== "*") matchTag(await etag());
    },
    match: (change, version) => {
      if (version === undefined) {
        if (header !== undefined) throw preconditionFailed(null);
        return;
      }
      if (unwanted !== undefined && matchesWeakly(tagsIn(unwanted), version.etag)) throw alreadyThere(version.etag);
      matchTag(version.etag);
      if (tags !== "*") change.requireUnchanged(version);
    },
  };
}
