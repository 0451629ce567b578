// What the authorizer passes to the handlers, and the ID of every request. During a deployment the authorizer is of another
// version than a handler for minutes: what a handler does not know grants nothing, and what it lacks has a default
// (test/releases).
import type { APIGatewayProxyEvent } from "aws-lambda";
import * as z from "zod";
import type { RateClass } from "../api/endpoint.ts";
import { Caller } from "../records/schemas/caller.ts";
import { openEnum } from "../data/stored.ts";

/** A client's own request ID is accepted in this form. */
const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

export type Headers = Record<string, string | undefined> | null | undefined;

/** Header names are case-insensitive; API Gateway gives them as the client wrote them. */
export function header(headers: Headers, name: string): string | undefined {
  const lower = name.toLowerCase();
  for (const key in headers) if (key.length === lower.length && key.toLowerCase() === lower) return headers[key];
  return undefined;
}

export function readRequestId(headers: Headers, otherwise: string): string {
  const requestId = header(headers, "x-request-id");
  return requestId !== undefined && REQUEST_ID.test(requestId) ? requestId : otherwise;
}

/** The limit closest to being reached, and the error if one is reached. */
export const Limits = z.object({
  limit: z.number(),
  remaining: z.number(),
  /** Unix seconds at which the oldest counted request leaves the window. */
  reset: z.number(),
  refused: z.object({ scope: openEnum<RateClass>(), limit: z.number(), retry_after: z.number() }).optional(),
});
export type Limits = z.infer<typeof Limits>;

/** A gateway passes only flat strings from the authorizer to the handler. */
export const AuthorizerContext = z.object({
  request_id: z.string(),
  caller: z.string().transform((text) => Caller.parse(JSON.parse(text))),
  limits: z.string().transform((text) => Limits.parse(JSON.parse(text))),
  /** Set on calls from a bulk action's function, which no authorizer has seen. */
  in_bulk: z.literal("true").optional(),
});
type AuthorizerContext = z.output<typeof AuthorizerContext>;

/** The authorizer's context of a request; undefined without an authorizer. Parsed once. */
export function authorizedIn(event: APIGatewayProxyEvent): AuthorizerContext | undefined {
  const { authorizer } = event.requestContext;
  if (!authorized.has(event)) authorized.set(event, AuthorizerContext.safeParse(authorizer).data);
  return authorized.get(event);
}
const authorized = new WeakMap<APIGatewayProxyEvent, AuthorizerContext | undefined>();

/** The same, for requests that only the authorizer forwards. */
export const readAuthorization = (event: APIGatewayProxyEvent): AuthorizerContext =>
  authorizedIn(event) ?? AuthorizerContext.parse(event.requestContext.authorizer);

/** All lines of a header that is a list. */
export function headerLines({ multiValueHeaders }: APIGatewayProxyEvent, name: string): string | undefined {
  const lines = Object.keys(multiValueHeaders ?? {})
    .filter((key) => key.length === name.length && key.toLowerCase() === name)
    .flatMap((key) => multiValueHeaders?.[key] ?? []);
  return lines.length === 0 ? undefined : lines.join();
}

export const requestId = (event: APIGatewayProxyEvent): string => readRequestId(event.headers, event.requestContext.requestId);
