// API Gateway on this machine: the template's REST API over node:http, with its authorizers, integrations and gateway responses.
import { randomUUID } from "node:crypto";
import { createServer, validateHeaderName, validateHeaderValue, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import * as z from "zod";
import { LocalError } from "../errors.ts";
import { compressed, opened } from "./compression.ts";
import {
  bodyOf,
  decoded,
  headerIn,
  headersOf,
  queryOf,
  Refusal,
  REFUSALS,
  type Exchange,
  type Many,
  type RefusalType,
} from "./request.ts";
import { FunctionError } from "../lambda/lambda.ts";
import {
  ACCOUNT,
  functionIn,
  REGION,
  type ApiResource,
  type Authorizer,
  type Method,
  type RestApi,
} from "../template/template.ts";

const HEADERS_LIMIT_BYTES = 10_240;
// API Gateway's own, of what an authorizer is asked and answers with: a long path meets them first.
const METHOD_ARN_BYTES_MAX = 1600;
const POLICY_RESOURCE_MAX = 512;
// How long requests that are being answered may take when the server is told to stop.
const GRACE_MILLISECONDS = 2000;

interface Answer {
  status: number;
  headers: [string, string][];
  body: Buffer;
}
interface Route {
  resource: ApiResource;
  segments: string[];
  rank: string;
}

const rankOf = (segment: string): string => (segment.endsWith("+}") ? "2" : segment.startsWith("{") ? "1" : "0");

/** Static before {parameter} before {greedy+}, place by place. Resources without methods answer nothing. */
function routesOf({ resources }: RestApi): Route[] {
  return resources
    .filter(({ methods }) => methods.length > 0)
    .map((resource) => {
      const segments = resource.path.split("/").slice(1).filter(Boolean);
      return { resource, segments, rank: segments.map(rankOf).join("") };
    })
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1));
}

/** Percent-encoded as the client wrote them: REST APIs leave it to the function to decode them. */
function parametersOf({ segments }: Route, asked: string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const value = asked[index];
    if (!value) return undefined;
    if (segment.endsWith("+}")) return { ...parameters, [segment.slice(1, -2)]: asked.slice(index).join("/") };
    if (segment.startsWith("{")) parameters[segment.slice(1, -1)] = value;
    else if (segment !== decoded(value)) return undefined;
  }
  return asked.length === segments.length ? parameters : undefined;
}

/** What Lambda refuses before the function runs. */
const FAILURES: Readonly<Record<string, RefusalType>> = {
  // What fits the gateway's 10 MB, but not the 6 that a function takes.
  "Lambda.RequestTooLargeException": "REQUEST_TOO_LARGE",
  "Lambda.TooManyRequestsException": "INTEGRATION_FAILURE",
};

const List = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat());
const Statement = z.object({
  Effect: z.enum(["Allow", "Deny"]),
  Action: List,
  Resource: List.refine((arns) => arns.every((arn) => arn.length <= POLICY_RESOURCE_MAX), "too long for a policy"),
});
const Authorization = z.object({
  principalId: z.coerce.string(),
  policyDocument: z.object({ Statement: z.union([Statement, z.array(Statement)]).transform((value) => [value].flat()) }),
  context: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
});

function wildcard(pattern: string): RegExp {
  const escaped = pattern.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`, "s");
}

const ProxyAnswer = z.object({
  statusCode: z.coerce.number().int().min(200).max(599),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullish(),
  multiValueHeaders: z.record(z.string(), z.array(z.union([z.string(), z.number(), z.boolean()]))).nullish(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().nullish(),
});

// What API Gateway renames and leaves out of a function's headers; a product that needs one of them finds out here.
const REMAPPED = [
  "authorization",
  "content-length",
  "content-md5",
  "date",
  "max-forwards",
  "server",
  "user-agent",
  "www-authenticate",
];
const DROPPED = ["connection", "expect", "host", "proxy-authenticate", "te", "trailer", "transfer-encoding", "upgrade"];

function integrationAnswer(result: unknown): Answer {
  const parsed = ProxyAnswer.safeParse(result);
  if (!parsed.success) throw new Refusal("DEFAULT_5XX", `Malformed Lambda proxy response: ${z.prettifyError(parsed.error)}`);
  const { statusCode, headers, multiValueHeaders, body, isBase64Encoded } = parsed.data;
  const many: Many = new Map();
  for (const [name, value] of Object.entries(headers ?? {})) many.set(name.toLowerCase(), [String(value)]);
  for (const [name, values] of Object.entries(multiValueHeaders ?? {})) many.set(name.toLowerCase(), values.map(String));
  if (!many.has("content-type")) many.set("content-type", ["application/json"]);
  const kept = [...many].filter(([name]) => !DROPPED.includes(name));
  const named = kept.flatMap(([name, values]) =>
    values.map((value): [string, string] => [REMAPPED.includes(name) ? `x-amzn-remapped-${name}` : name, value]),
  );
  try {
    for (const [name, value] of named) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
  } catch (cause) {
    throw new Refusal("DEFAULT_5XX", cause);
  }
  return { status: statusCode, headers: named, body: Buffer.from(body ?? "", isBase64Encoded === true ? "base64" : "utf8") };
}

/** Header mappings: a 'literal' in quotes, or a value; what has no value is left out. */
function mapped(
  mappings: Record<string, string>,
  prefix: string,
  value: (name: string) => string | undefined,
): [string, string][] {
  return Object.entries(mappings).flatMap(([name, source]): [string, string][] => {
    const found = source.startsWith("'") ? source.slice(1, -1) : value(source);
    return found === undefined || !name.startsWith(prefix) ? [] : [[name.slice(prefix.length).toLowerCase(), found]];
  });
}

const last = (many: Many) => Object.fromEntries([...many].map(([name, values]) => [name, values.at(-1) ?? ""]));

/** Bounds the wait only: what the function does goes on, as on AWS. */
async function inTime<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Refusal("INTEGRATION_TIMEOUT")), milliseconds);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

/** In whatever case: `/API/v1` is a mistake for the API to answer, and no page of the dashboard. */
const OF_THE_API = /^\/api(\/|$)/i;

/** A request for a proxy, or one that could be for two hosts: refused before it is looked at, as CloudFront and API Gateway do. */
function refuseRaw(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(400, { connection: "close", "content-length": 0 }).end();
  request.resume();
}

/** A look at a request before the API's resources; true when it was, or will be, answered. */
export type Fallback = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface Gateway {
  url: string;
  stop: () => Promise<void>;
}

export async function startGateway(options: {
  api: RestApi;
  invoke: (functionName: string, payload: unknown) => Promise<unknown>;
  port: number;
  /** Asked first for every path outside /api. */
  fallback?: Fallback | undefined;
  /** Headers that CloudFront adds to every request for the API; undefined without a CloudFront. */
  front?: Record<string, string> | undefined;
  log: (line: string) => void;
}): Promise<Gateway> {
  const { api, invoke, log } = options;
  const routes = routesOf(api);
  const responses = new Map(api.gatewayResponses.map((each) => [each.ResponseType, each]));
  const authorizers = new Map(api.authorizers.map((each) => [each.id, each]));
  for (const { path, methods } of api.resources)
    for (const { httpMethod, integration } of methods)
      if (!["AWS_PROXY", "MOCK"].includes(integration.Type))
        throw new LocalError(
          `${httpMethod} ${path} has an integration of type ${integration.Type}: the local gateway knows AWS_PROXY and MOCK`,
        );

  function contextOf(exchange: Exchange): Record<string, unknown> {
    const { requestId, method, path, resource, sourceIp, startedAt, headers } = exchange;
    const host = headerIn(headers, "host") ?? "";
    return {
      accountId: ACCOUNT,
      apiId: api.id,
      stage: api.stage,
      deploymentId: "local",
      requestId,
      extendedRequestId: requestId,
      httpMethod: method,
      path,
      resourceId: resource?.id ?? null,
      resourcePath: resource?.path ?? null,
      protocol: "HTTP/1.1",
      domainName: host,
      domainPrefix: host.split(".")[0],
      requestTime: new Date(startedAt).toUTCString(),
      requestTimeEpoch: startedAt,
      identity: {
        sourceIp,
        userAgent: headerIn(headers, "user-agent") ?? null,
        accountId: null,
        caller: null,
        user: null,
        userArn: null,
      },
    };
  }

  function eventOf(exchange: Exchange): Record<string, unknown> {
    const { query, headers, parameters } = exchange;
    return {
      resource: exchange.resource?.path,
      path: exchange.path,
      httpMethod: exchange.method,
      headers: last(headers),
      multiValueHeaders: Object.fromEntries(headers),
      queryStringParameters: query.size === 0 ? null : last(query),
      multiValueQueryStringParameters: query.size === 0 ? null : Object.fromEntries(query),
      pathParameters: Object.keys(parameters).length === 0 ? null : parameters,
      stageVariables: null,
      requestContext: contextOf(exchange),
    };
  }

  /** `context.x`, `method.request.header.X` and their like, as gateway responses write them. */
  function valueOf(name: string, exchange: Exchange, refusal?: { type: string; message: string }): string | undefined {
    const [, kind, key = ""] = /^(context|method\.request\.(?:header|querystring|path))\.(.+)$/.exec(name) ?? [];
    if (kind === "method.request.header") return headerIn(exchange.headers, key);
    if (kind === "method.request.querystring") return exchange.query.get(key)?.at(-1);
    if (kind === "method.request.path") return exchange.parameters[key];
    if (key.startsWith("authorizer.")) return exchange.authorizer[key.slice("authorizer.".length)];
    if (key === "error.message") return refusal?.message;
    if (key === "error.messageString") return refusal && JSON.stringify(refusal.message);
    if (key === "error.responseType") return refusal?.type;
    if (key === "identity.sourceIp") return exchange.sourceIp;
    const value = contextOf(exchange)[key];
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  }

  const render = (template: string, exchange: Exchange, refusal?: { type: string; message: string }): string =>
    template.replaceAll(
      /\$(?:\{((?:context|method\.request)\.[\w.-]+)\}|((?:context|method\.request)(?:\.[\w-]+)+))/g,
      (_, braced?: string, bare?: string) => valueOf(braced ?? bare ?? "", exchange, refusal) ?? "",
    );

  function refuse(type: RefusalType, exchange: Exchange): Answer {
    const [status, message] = REFUSALS[type];
    const response = responses.get(type) ?? responses.get(status < 500 ? "DEFAULT_4XX" : "DEFAULT_5XX");
    const templates = Object.entries(response?.ResponseTemplates ?? {});
    const json = "application/json";
    const [contentType, template] = templates.find(([each]) => each === json) ??
      templates[0] ?? [json, '{"message":$context.error.messageString}'];
    const refusal = { type, message };
    const headers = mapped(response?.ResponseParameters ?? {}, "gatewayresponse.header.", (name) =>
      valueOf(name, exchange, refusal),
    );
    const all = new Map([["content-type", contentType], ["x-amzn-errortype", type], ...headers]);
    return { status: response?.StatusCode ?? status, headers: [...all], body: Buffer.from(render(template, exchange, refusal)) };
  }

  function mock({ integration }: Method, exchange: Exchange): Answer {
    const { RequestTemplates, IntegrationResponses } = integration;
    const status = /statusCode["']?\s*:\s*(\d+)/.exec(RequestTemplates["application/json"] ?? "")?.[1];
    const response = IntegrationResponses.find(({ StatusCode }) => StatusCode === status) ?? IntegrationResponses[0];
    if (!response) throw new Refusal("DEFAULT_5XX", "A MOCK integration without a response");
    const headers = mapped(response.ResponseParameters, "method.response.header.", () => undefined);
    const body = render(response.ResponseTemplates["application/json"] ?? "", exchange);
    return {
      status: Number(response.StatusCode),
      headers: [["content-type", "application/json"], ...headers],
      body: Buffer.from(body),
    };
  }

  /** Asks the authorizer about this very request: nothing is cached here, whatever the template's TTL says. */
  async function authorize({ functionArn, identitySources }: Authorizer, exchange: Exchange): Promise<Record<string, string>> {
    const named = identitySources.map((source) => valueOf(source, exchange));
    if (named.some((value) => value === undefined || value === "")) throw new Refusal("UNAUTHORIZED");
    const methodArn = `arn:aws:execute-api:${REGION}:${ACCOUNT}:${api.id}/${api.stage}/${exchange.method}${exchange.path}`;
    if (Buffer.byteLength(methodArn) > METHOD_ARN_BYTES_MAX) throw new Refusal("URI_TOO_LONG");
    const result = await invoke(functionArn, { type: "REQUEST", methodArn, ...eventOf(exchange) }).catch((cause: unknown) => {
      throw new Refusal(
        cause instanceof Error && cause.message === "Unauthorized" ? "UNAUTHORIZED" : "AUTHORIZER_FAILURE",
        cause,
      );
    });
    const parsed = Authorization.safeParse(result);
    if (!parsed.success) throw new Refusal("AUTHORIZER_CONFIGURATION_ERROR", z.prettifyError(parsed.error));
    const { principalId, policyDocument, context } = parsed.data;
    const strings = Object.entries(context).map(([key, value]): [string, string] => [key, String(value)]);
    // Known to the gateway response of a refusal, too.
    exchange.authorizer = { principalId, ...Object.fromEntries(strings) };
    const about = policyDocument.Statement.filter(
      ({ Action, Resource }) =>
        Action.some((each) => wildcard(each).test("execute-api:Invoke")) &&
        Resource.some((each) => wildcard(each).test(methodArn)),
    );
    if (about.length === 0 || about.some(({ Effect }) => Effect === "Deny")) throw new Refusal("ACCESS_DENIED");
    return exchange.authorizer;
  }

  function methodOf(exchange: Exchange): Method {
    const asked = exchange.path.split("/").slice(1);
    for (const segment of asked) decoded(segment); // what cannot be is refused
    // A slash at the end is the same resource, as on AWS.
    if (asked.at(-1) === "") asked.pop();
    for (const route of routes) {
      const parameters = parametersOf(route, asked);
      if (!parameters) continue;
      const { methods } = route.resource;
      const method =
        methods.find(({ httpMethod }) => httpMethod === exchange.method) ??
        methods.find(({ httpMethod }) => httpMethod === "ANY");
      if (!method) break;
      Object.assign(exchange, { resource: route.resource, parameters });
      return method;
    }
    throw new Refusal("MISSING_AUTHENTICATION_TOKEN");
  }

  async function answer(exchange: Exchange, rawQuery: string, request: IncomingMessage): Promise<Answer> {
    const sent = await bodyOf(request);
    const method = methodOf(exchange);
    exchange.query = queryOf(rawQuery);
    const authorizer = authorizers.get(method.authorizerId ?? "");
    const context = authorizer && (await authorize(authorizer, exchange));
    if (method.integration.Type === "MOCK") return mock(method, exchange);
    const { minimumCompressionSize } = api;
    const body = minimumCompressionSize === undefined ? sent : await opened(sent, headerIn(exchange.headers, "content-encoding"));
    const type = headerIn(exchange.headers, "content-type")?.split(";")[0] ?? "";
    const isBase64Encoded = body.length > 0 && api.binaryMediaTypes.some((each) => wildcard(each).test(type));
    const event = eventOf(exchange);
    const payload = {
      ...event,
      requestContext: { ...contextOf(exchange), ...(context ? { authorizer: { ...context, integrationLatency: 0 } } : {}) },
      body: body.length === 0 ? null : body.toString(isBase64Encoded ? "base64" : "utf8"),
      isBase64Encoded,
    };
    const functionArn = functionIn(method.integration.Uri ?? "");
    const result = await inTime(invoke(functionArn, payload), method.integration.TimeoutInMillis).catch((cause: unknown) => {
      if (!(cause instanceof FunctionError)) throw cause;
      throw new Refusal(FAILURES[cause.name] ?? "DEFAULT_5XX", cause);
    });
    return compressed(integrationAnswer(result), minimumCompressionSize, headerIn(exchange.headers, "accept-encoding"));
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = request.url ?? "/";
    if (!target.startsWith("/") || (request.headersDistinct["host"]?.length ?? 0) > 1) return refuseRaw(request, response);
    const cut = target.includes("?") ? target.indexOf("?") : target.length;
    const path = target.slice(0, cut);
    if (options.fallback && !OF_THE_API.test(path) && options.fallback(request, response)) return;
    const exchange: Exchange = {
      requestId: randomUUID(),
      startedAt: Date.now(),
      method: request.method ?? "GET",
      path,
      headers: headersOf(request, options.front),
      query: new Map(),
      sourceIp: request.socket.remoteAddress ?? "127.0.0.1",
      parameters: {},
      authorizer: {},
    };
    const { status, headers, body } = await answer(exchange, target.slice(cut + 1), request).catch((error: unknown) => {
      if (request.destroyed && !request.complete) throw error; // the client is gone: nobody reads an answer
      const type = error instanceof Refusal ? error.type : "DEFAULT_5XX";
      if (REFUSALS[type][0] >= 500)
        log(
          `gateway: ${exchange.method} ${path}: ${error instanceof Refusal ? `${type} ${String(error.cause)}` : String(error)}`,
        );
      return refuse(type, exchange);
    });
    const bodiless = status === 204 || status === 304;
    response.sendDate = true;
    response.statusCode = status;
    for (const [name, value] of [...headers, ["x-amzn-requestid", exchange.requestId] as const])
      response.appendHeader(name, value);
    if (!bodiless) response.setHeader("content-length", body.length);
    response.end(bodiless || exchange.method === "HEAD" ? undefined : body);
  }

  const server = createServer({ maxHeaderSize: HEADERS_LIMIT_BYTES, keepAliveTimeout: 65_000 }, (request, response) => {
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    serve(request, response).catch((error: unknown) => {
      if (!request.destroyed) log(`gateway: ${String(request.url)}: ${String(error)}`);
      response.destroy();
    });
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    socket.on("error", () => undefined);
    const status = error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
    if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "EADDRINUSE"
          ? new LocalError(`Port ${options.port} is taken: stop what uses it, or choose another`)
          : error,
      ),
    );
    server.listen(options.port, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : options.port;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), GRACE_MILLISECONDS);
      await closed;
      clearTimeout(timer);
    },
  };
}
