// The typed client without the route table that it is built from: the dashboard has a table without schemas.
import type { DryRun } from "./dry-run.ts";
import type { CallOf, DataOf, Endpoint, QueryOf } from "./endpoint.ts";
import type { ErrorDetails } from "./errors.ts";
import type { ListMeta } from "./fields.ts";
import type { Api } from "./index.ts";

export interface ClientOptions {
  /** Includes the version: `https://api.example.com/api/v1`. In a browser it may be a path. */
  baseUrl: string;
  /** Called before every request, so that signing in and out takes effect immediately. */
  token: () => string | undefined;
  fetch?: typeof fetch;
}

/** Options that every call accepts besides the endpoint's own. */
interface CallOptions {
  /** Makes a POST safe to retry; endpoints that do not support it ignore it. */
  idempotencyKey?: string;
  /** Your own identifier for tracing. */
  requestId?: string;
  /** The `etag` of an earlier response: makes a PUT or DELETE only if the resource is still that version. */
  ifMatch?: string;
  /** Makes a PUT only if there is no such resource yet; endpoints whose PUT does not create ignore it. */
  ifNoneMatch?: "*";
  signal?: AbortSignal;
}

/** A successful response. */
type ClientResponse<E> = {
  data: DataOf<E>;
  status: number;
  requestId: string;
  /** Path of the new resource, or of the operation that was started. */
  location: string | undefined;
  /** The version of a single resource. */
  etag: string | undefined;
  /** Whether this is the stored response to the first request with the same key. */
  replayed: boolean;
  /** The limit closest to being reached; public endpoints have none. */
  rateLimit: { limit: number; remaining: number; reset: Date } | undefined;
} & (E extends { list: true } ? { meta: ListMeta } : unknown);

/** The argument is optional where the endpoint needs nothing. */
type Send<E> =
  Partial<CallOf<E>> extends CallOf<E>
    ? (call?: CallOf<E> & CallOptions) => Promise<ClientResponse<E>>
    : (call: CallOf<E> & CallOptions) => Promise<ClientResponse<E>>;

type DryRunResponse = Pick<ClientResponse<unknown>, "status" | "requestId" | "rateLimit"> & { data: DryRun };

/** `client.instances.delete.dryRun({ params })` tells what the call would do. */
type Call<E> = Send<E> &
  (E extends { dryRun: true } ? { dryRun: (call: CallOf<E> & CallOptions) => Promise<DryRunResponse> } : unknown);

export type Client = { [R in keyof Api]: { [N in keyof Api[R]]: Call<Api[R][N]> } };

/** Everything that is not a success. */
export class ClientError extends Error {
  override name = "ClientError";
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  /** An `ErrorCode` of the service (new ones may appear), or why there is none: no response, or one without the envelope. */
  readonly code: string;
  readonly details: ErrorDetails | undefined;
  readonly requestId: string | undefined;
  /** Seconds to wait before a retry. */
  readonly retryAfter: number | undefined;

  constructor(
    code: string,
    message: string,
    about: { status?: number; details?: ErrorDetails; requestId?: string; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: about.cause });
    this.code = code;
    this.status = about.status ?? 0;
    this.details = about.details;
    this.requestId = about.requestId;
    this.retryAfter = about.retryAfter;
  }
}

/** What the client needs of an endpoint. */
export interface Callable extends Pick<Endpoint, "method" | "path" | "list" | "dryRun" | "unenveloped"> {
  /** Undefined: the request has none. */
  body: unknown;
}

export function buildClient(table: Record<string, Record<string, Callable>>, options: ClientOptions): Client {
  const resources = Object.entries(table).map(([resource, endpoints]) => [
    resource,
    Object.fromEntries(
      Object.entries(endpoints).map(([name, endpoint]) => [
        name,
        createCall(endpoint, async (call) => readData(endpoint, await send(options, endpoint, call))),
      ]),
    ),
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `Client` is mapped from the same table, which `Object.entries` forgets
  return Object.fromEntries(resources) as Client;
}

type AnySend = (call: AnyCall) => Promise<unknown>;

const createCall = (endpoint: Callable, call: AnySend) =>
  Object.assign(
    async (of: AnyCall = {}) => call(of),
    endpoint.dryRun && { dryRun: async (of: AnyCall) => call({ ...of, query: { ...of.query, dry_run: "true" } }) },
  );

/** The call of any endpoint, as `send` sees it. */
interface AnyCall extends CallOptions {
  params?: Record<string, string>;
  query?: QueryOf;
  body?: unknown;
}

async function send(options: ClientOptions, endpoint: Callable, call: AnyCall): Promise<Response> {
  const token = options.token();
  const headers = {
    accept: "application/json",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(endpoint.body !== undefined && { "content-type": "application/json" }),
    ...(call.idempotencyKey !== undefined && { "idempotency-key": call.idempotencyKey }),
    ...(call.requestId !== undefined && { "x-request-id": call.requestId }),
    ...(call.ifMatch !== undefined && { "if-match": call.ifMatch }),
    ...(call.ifNoneMatch !== undefined && { "if-none-match": call.ifNoneMatch }),
  };
  try {
    // Called as a plain function: a browser's fetch throws when it is a method of anything but the window.
    const request = options.fetch ?? fetch;
    return await request(buildUrl(options.baseUrl, endpoint.path, call), {
      method: endpoint.method,
      headers,
      ...(endpoint.body !== undefined && { body: JSON.stringify(call.body ?? {}) }),
      ...(call.signal !== undefined && { signal: call.signal }),
    });
  } catch (cause) {
    if (call.signal?.aborted === true) throw cause; // the caller aborted it and knows the error by its name
    throw new ClientError("NETWORK_ERROR", "The service could not be reached", { cause });
  }
}

function buildUrl(baseUrl: string, path: string, { params = {}, query = {} }: AnyCall): string {
  const urlPath = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const each of typeof value === "object" ? value : [value]) if (each !== undefined) search.append(name, String(each));
  return `${baseUrl.replace(/\/+$/, "")}${urlPath}${search.size === 0 ? "" : `?${search.toString()}`}`;
}

/** Every response of the service. `data` is trusted to match the route table, because the service parsed it before sending. */
interface Envelope {
  success: boolean;
  data?: unknown;
  meta?: unknown;
  error?: { code: string; message: string; details?: ErrorDetails };
}

async function readData(endpoint: Callable, response: Response): Promise<unknown> {
  const { status, ok, headers } = response;
  const requestId = headers.get("x-request-id") ?? "";
  const unexpected = (cause?: unknown) =>
    new ClientError("UNEXPECTED_RESPONSE", `The response (HTTP ${status}) did not come from the service`, {
      status,
      requestId,
      cause,
    });
  const body: unknown = await response.json().catch((cause: unknown) => {
    throw unexpected(cause);
  });
  if (endpoint.unenveloped && ok) return { data: body, ...about(response, requestId) };
  if (!isEnvelope(body)) throw unexpected();
  if (body.error !== undefined) {
    const { code, message, details } = body.error;
    const retryAfter = numberIn(headers, "retry-after");
    throw new ClientError(code, message, {
      status,
      requestId,
      ...(details !== undefined && { details }),
      ...(retryAfter !== undefined && { retryAfter }),
    });
  }
  if (!ok) throw unexpected();
  return { data: body.data, ...(endpoint.list && { meta: body.meta }), ...about(response, requestId) };
}

function isEnvelope(body: unknown): body is Envelope {
  if (typeof body !== "object" || body === null || !("success" in body)) return false;
  if (body.success === true) return "data" in body;
  if (!("error" in body) || typeof body.error !== "object" || body.error === null) return false;
  return "code" in body.error && typeof body.error.code === "string" && "message" in body.error;
}

function about({ status, headers }: Response, requestId: string) {
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) => numberIn(headers, `x-ratelimit-${name}`));
  return {
    status,
    requestId,
    location: headers.get("location") ?? undefined,
    etag: headers.get("etag") ?? undefined,
    replayed: headers.get("idempotent-replayed") === "true",
    rateLimit:
      limit === undefined || remaining === undefined || reset === undefined
        ? undefined
        : { limit, remaining, reset: new Date(reset * 1000) },
  };
}

function numberIn(headers: Headers, name: string): number | undefined {
  const value = Number(headers.get(name) ?? Number.NaN);
  return Number.isNaN(value) ? undefined : value;
}
