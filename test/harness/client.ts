// A client that knows HTTP and the API's envelope, and nothing else. It checks every response that it gets against
// the rules of docs/api.md for all responses and for its route, so every test checks them too.
import { gunzipSync, inflateSync } from "node:zlib";
import { Agent, request as send } from "node:http";
import { expect } from "vitest";
import * as z from "zod";
import { DryRun } from "../../shared/api/dry-run.ts";
import { type ErrorCode, ERRORS } from "../../shared/api/errors.ts";
import { ListMeta } from "../../shared/api/fields.ts";
import { type Route, routes } from "../../shared/api/index.ts";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { apiUrl } from "./cloud.ts";
import { expectDescribed } from "./described.ts";

interface Ask {
  headers?: Record<string, string>;
  /** Replaces the client's own credential; null sends none. */
  token?: string | null;
  /** The loopback address that the request comes from. */
  from?: string;
}

export interface ApiResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
  /** The whole response, parsed. */
  body: unknown;
  meta: ListMeta | undefined;
  error: ErrorBody | undefined;
  /** The data of a success response, parsed; fails the test for any other response. */
  as: <S extends z.ZodType>(schema: S) => z.output<S>;
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

const ErrorBody = z.strictObject({
  code: z.string().refine(isErrorCode, "is no code of the API"),
  message: z.string().min(1),
  details: z.record(z.string(), z.unknown()).optional(),
});
type ErrorBody = z.infer<typeof ErrorBody>;

const Success = z.strictObject({ success: z.literal(true), data: z.unknown(), meta: ListMeta.optional() });
const Failure = z.strictObject({ success: z.literal(false), error: ErrorBody });

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** One request, sent unchanged: path and body go out byte for byte. */
export function exchange(
  method: string,
  path: string,
  {
    body,
    headers = {},
    from,
  }: { body?: string | Buffer | undefined; headers?: Record<string, string>; from?: string | undefined } = {},
): Promise<ApiResponse> {
  const { hostname, port } = new URL(apiUrl());
  return new Promise((resolve, reject) => {
    const sent = send(
      {
        agent,
        host: hostname,
        port,
        method,
        path: `${BASE_PATH}${path}`,
        headers: { ...headers, ...(body !== undefined && { "content-length": Buffer.byteLength(body) }) },
        ...(from !== undefined && { localAddress: from, agent: false }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const received = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const);
          const text = decoded(Buffer.concat(chunks), response.headers["content-encoding"]).toString();
          const read = (): ApiResponse => responseOf(method, path, response.statusCode ?? 0, Object.fromEntries(received), text);
          resolve(Promise.resolve().then(read)); // a missing response fails the request, not the process
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** A generated request may accept compressed responses. */
function decoded(body: Buffer, encoding: string | undefined): Buffer {
  if (encoding === "gzip") return gunzipSync(body);
  return encoding === "deflate" ? inflateSync(body) : body;
}

function responseOf(method: string, path: string, status: number, headers: Record<string, string>, text: string): ApiResponse {
  const exchange = `${method} ${path.slice(0, 200)} → ${status} ${text.slice(0, 1000)}`;
  expect(headers["content-type"], exchange).toBe("application/json");
  expect(headers["x-request-id"], exchange).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
  expectOurHeaders(path, status, headers, exchange);
  if (method === "HEAD" || status === 304)
    return { status, headers, text, body: undefined, meta: undefined, error: undefined, as: () => fail(exchange) };
  const body: unknown = JSON.parse(text);
  const route = routeOf(method, path);
  if (route !== undefined) expectDescribed(route, status, body, exchange);
  if (status >= 400) {
    const failure = Failure.safeParse(body);
    expect(failure.error, exchange).toBeUndefined();
    const error = failure.data?.error;
    expect(status, exchange).toBe(error && ERRORS[error.code].status);
    if (status === 429 || status === 503) expect(headers["retry-after"], exchange).toMatch(/^[1-9]\d*$/);
    return { status, headers, text, body, meta: undefined, error, as: () => fail(exchange) };
  }
  if (route === undefined) throw new Error(`No route matches ${exchange}`);
  const rehearsed = route.dryRun && new URLSearchParams(path.split("?")[1]).get("dry_run") === "true";
  expect(status, exchange).toBe(rehearsed ? 200 : route.status);
  if (route.unenveloped)
    return { status, headers, text, body, meta: undefined, error: undefined, as: (schema) => schema.parse(body) };
  const success = Success.safeParse(body);
  expect(success.error, exchange).toBeUndefined();
  expect(success.data?.meta !== undefined, exchange).toBe(route.list);
  // Parsing drops what the schema does not know, so this finds leaked fields.
  expect((rehearsed ? DryRun : route.data).parse(success.data?.data), exchange).toEqual(success.data?.data);
  if (rehearsed) expect(headers, exchange).not.toMatchObject({ location: expect.anything() });
  else if (route.status !== 200 && route.access !== "public")
    expect(headers["location"], exchange).toMatch(new RegExp(`^${BASE_PATH}/([a-z-]+/)+[a-z]+_[0-9a-z]{26}$`));
  return {
    status,
    headers,
    text,
    body,
    meta: success.data?.meta,
    error: undefined,
    as: (schema) => schema.parse(success.data?.data),
  };
}

/** What every response contains, from whichever layer it comes. */
function expectOurHeaders(path: string, status: number, headers: ApiResponse["headers"], exchange: string): void {
  expect(headers["x-content-type-options"], exchange).toBe("nosniff");
  const pathOnly = path.split("?")[0]?.replace(/\/$/, "");
  const isDescription = pathOnly === "/openapi.json" && (status === 200 || status === 304);
  expect(headers["cache-control"], exchange).toBe(isDescription ? "no-cache" : "no-store");
  if (status === 401) expect(headers["www-authenticate"], exchange).toBe("Bearer");
}

function fail(exchange: string): never {
  throw new Error(`A success was expected: ${exchange}`);
}

const PATTERNS = routes.map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replace(/:\w+/g, "[^/]+")}/?$`),
  parameters: route.path.split(":").length,
}));

/** The route of a path: of two that match, the one with fewer parameters. */
function routeOf(method: string, path: string): Route | undefined {
  const [pathOnly = ""] = path.split("?");
  const matching = PATTERNS.filter(({ pattern }) => pattern.test(pathOnly));
  const fewest = Math.min(...matching.map(({ parameters }) => parameters));
  return matching.find(({ route, parameters }) => parameters === fewest && route.method === method)?.route;
}

/** The statuses of several responses, sorted, for tests in which it does not matter which came first. */
export const statusesOf = (responses: readonly ApiResponse[]): number[] =>
  responses.map(({ status }) => status).toSorted((a, b) => a - b);

export interface Client {
  readonly token: string | undefined;
  get: (path: string, ask?: Ask) => Promise<ApiResponse>;
  post: (path: string, body?: unknown, ask?: Ask) => Promise<ApiResponse>;
  put: (path: string, body?: unknown, ask?: Ask) => Promise<ApiResponse>;
  delete: (path: string, ask?: Ask) => Promise<ApiResponse>;
  /** Any method; a body of text or bytes is sent unchanged. */
  send: (method: string, path: string, body?: unknown, ask?: Ask) => Promise<ApiResponse>;
}

export function clientWith(token: string | undefined): Client {
  const call = (
    method: string,
    path: string,
    body: unknown,
    { headers = {}, token: other = token, from }: Ask = {},
  ): Promise<ApiResponse> =>
    exchange(method, path, {
      body: body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      headers: {
        ...(other !== null && other !== undefined && { authorization: `Bearer ${other}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      from,
    });
  return {
    token,
    get: (path, ask) => call("GET", path, undefined, ask),
    post: (path, body, ask) => call("POST", path, body, ask),
    put: (path, body, ask) => call("PUT", path, body, ask),
    delete: (path, ask) => call("DELETE", path, undefined, ask),
    send: call,
  };
}

/** A client without a credential. */
export const anonymous: Client = clientWith(undefined);
