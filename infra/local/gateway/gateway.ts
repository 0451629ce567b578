// API Gateway on this machine: the template's REST API over node:http, with its authorizer, functions and gateway responses.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { FunctionError } from "../lambda/function-error.ts";
import type { RestApi } from "../template/api.ts";
import { withFrontHeaders, type Front } from "../template/front.ts";
import { authorize } from "./authorize.ts";
import { compressed, opened } from "./compression.ts";
import { GATEWAY_ERRORS, GatewayError, type GatewayErrorType } from "./errors.ts";
import { buildContext, buildEvent } from "./event.ts";
import { readBody, headerIn, readHeaders, parseQuery, type Exchange } from "./request.ts";
import { errorResponse, functionResponse, type HttpResponse } from "./responses.ts";
import { route, listRoutes } from "./routes.ts";
import { startServer } from "./server.ts";
import { type UnauthenticatedLimit, limitUnauthenticated } from "./unauthenticated-limit.ts";
import { withTimeout } from "../../../shared/platform/with-timeout.ts";

/** Lambda's own errors, before the function runs. */
const LAMBDA_ERRORS: Readonly<Record<string, GatewayErrorType>> = {
  // A payload that fits into the gateway's 10 MB, but not into a function's 6.
  "Lambda.RequestTooLargeException": "REQUEST_TOO_LARGE",
  "Lambda.TooManyRequestsException": "INTEGRATION_FAILURE",
};

/** What the authorizer calls whoever has no valid credential. */
const ANONYMOUS = "anonymous";

/** Matches paths in any case of letters: `/API/v1` is an error of the API, and not a page of the dashboard. */
const OF_THE_API = /^\/api(\/|$)/i;

/** Gets a request before the API's resources do; true if it responds to it. */
export type Fallback = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface Gateway {
  url: string;
  stop: () => Promise<void>;
}

interface Options {
  api: RestApi;
  invoke: (functionName: string, payload: unknown) => Promise<unknown>;
  port: number;
  /** Called first for every path outside /api. */
  fallback?: Fallback | undefined;
  /** Undefined without a CloudFront. */
  front?: Front | undefined;
  /** Requests without a valid credential that an address may send in five minutes; undefined: any number. */
  unauthenticatedMax?: number | undefined;
  log: (line: string) => void;
}

export async function startGateway(options: Options): Promise<Gateway> {
  const { api, fallback, front, log, port, unauthenticatedMax } = options;
  const unauthenticated = unauthenticatedMax === undefined ? undefined : limitUnauthenticated(unauthenticatedMax);
  const respond = responder(options, unauthenticated);
  const responses = new Map(api.gatewayResponses.map((each) => [each.type, each]));
  return startServer({
    port,
    log,
    serve: async (request, response) => {
      const target = request.url ?? "/";
      if (!target.startsWith("/") || (request.headersDistinct["host"]?.length ?? 0) > 1) return rejectRaw(request, response);
      const cut = target.includes("?") ? target.indexOf("?") : target.length;
      const path = target.slice(0, cut);
      if (fallback && !OF_THE_API.test(path) && fallback(request, response)) return;
      const exchange = buildExchange(request, path, front);
      const reply = await respond(exchange, target.slice(cut + 1), request).catch((error: unknown) => {
        if (request.destroyed && !request.complete) throw error; // the client is gone: nobody reads the response
        const type = error instanceof GatewayError ? error.type : "DEFAULT_5XX";
        if (GATEWAY_ERRORS[type][0] >= 500)
          log(
            `gateway: ${exchange.method} ${path}: ${error instanceof GatewayError ? `${type} ${String(error.cause)}` : String(error)}`,
          );
        return (isUnauthenticatedError(type) && unauthenticated?.rejection(exchange)) || errorResponse(type, exchange, responses);
      });
      if (exchange.isUnauthenticated) unauthenticated?.count(exchange.sourceIp);
      write(withFrontHeaders(front, path, reply), exchange, response);
    },
  });
}

/** Errors of requests whose credential is invalid, or was never checked because no route matched. */
const isUnauthenticatedError = (type: GatewayErrorType): boolean =>
  ["ACCESS_DENIED", "UNAUTHORIZED", "MISSING_AUTHENTICATION_TOKEN", "BAD_REQUEST_PARAMETERS"].includes(type);

/**
 * A request for a proxy, or one that could be for two hosts: rejected before anything reads it, as in CloudFront and API Gateway.
 */
function rejectRaw(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(400, { connection: "close", "content-length": 0 }).end();
  request.resume();
}

const buildExchange = (request: IncomingMessage, path: string, front: Options["front"]): Exchange => ({
  requestId: randomUUID(),
  startedAt: Date.now(),
  method: request.method ?? "GET",
  path,
  headers: readHeaders(request, front?.requestHeaders),
  query: new Map(),
  sourceIp: request.socket.remoteAddress ?? "127.0.0.1",
  isUnauthenticated: true,
  parameters: {},
  authorizer: {},
});

/** Returns what turns a request into its function's response, and throws a GatewayError for the gateway's own responses. */
function responder({ api, invoke }: Options, unauthenticated: UnauthenticatedLimit | undefined) {
  const routes = listRoutes(api);
  const authorizers = new Map(api.authorizers.map((each) => [each.name, each]));
  return async (exchange: Exchange, rawQuery: string, request: IncomingMessage): Promise<HttpResponse> => {
    const sent = await readBody(request);
    const method = route(routes, exchange);
    const authorizer = authorizers.get(method.authorizer ?? "");
    // A credential is checked first, where there is somebody to check it: its owner is not to suffer from others at the same
    // address.
    const mayBeValid = authorizer !== undefined && headerIn(exchange.headers, "authorization") !== undefined;
    const rejection = mayBeValid ? undefined : unauthenticated?.rejection(exchange);
    if (rejection !== undefined) return rejection;
    exchange.query = parseQuery(rawQuery);
    if (authorizer) await authorize(api, authorizer, exchange, invoke);
    exchange.isUnauthenticated = authorizer === undefined || exchange.authorizer["principalId"] === ANONYMOUS;
    const { minimumCompressionSize } = api;
    const body = minimumCompressionSize === undefined ? sent : await opened(sent, headerIn(exchange.headers, "content-encoding"));
    const authorized = authorizer ? { authorizer: { ...exchange.authorizer, integrationLatency: 0 } } : {};
    const payload = {
      ...buildEvent(api, exchange),
      requestContext: { ...buildContext(api, exchange), ...authorized },
      body: body.length === 0 ? null : body.toString(),
      isBase64Encoded: false,
    };
    const result = await inTime(invoke(method.functionArn, payload), method.timeoutMilliseconds).catch((cause: unknown) => {
      if (!(cause instanceof FunctionError)) throw cause;
      throw new GatewayError(LAMBDA_ERRORS[cause.name] ?? "DEFAULT_5XX", cause);
    });
    return compressed(functionResponse(result), minimumCompressionSize, headerIn(exchange.headers, "accept-encoding"));
  };
}

/** Limits the wait only: the function continues, as on AWS. */
const inTime = <T>(work: Promise<T>, milliseconds: number): Promise<T> =>
  withTimeout(work, milliseconds, new GatewayError("INTEGRATION_TIMEOUT"));

function write({ status, headers, body }: HttpResponse, { requestId, method }: Exchange, response: ServerResponse): void {
  const bodiless = status === 204 || status === 304;
  response.sendDate = true;
  response.statusCode = status;
  for (const [name, value] of [...headers, ["x-amzn-requestid", requestId] as const]) response.appendHeader(name, value);
  if (!bodiless) response.setHeader("content-length", body.length);
  response.end(bodiless || method === "HEAD" ? undefined : body);
}
