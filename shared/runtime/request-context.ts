// What the authorizer passes to the handlers, and the ID of every request.
import * as z from "zod";
import { Caller } from "../data/records.ts";

/** A client's own request ID is accepted in this form. */
const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

export type Headers = Record<string, string | undefined> | null | undefined;

/** Header names are case-insensitive; API Gateway gives them as the client wrote them. */
export function header(headers: Headers, name: string): string | undefined {
  const lower = name.toLowerCase();
  for (const key in headers) if (key.length === lower.length && key.toLowerCase() === lower) return headers[key];
  return undefined;
}

export function requestIdOf(headers: Headers, otherwise: string): string {
  const own = header(headers, "x-request-id");
  return own !== undefined && REQUEST_ID.test(own) ? own : otherwise;
}

const Scope = z.enum(["all", "create_delete"]);

/** The limit closest to being reached, and the error if one is reached. */
export const Limits = z.object({
  limit: z.number(),
  remaining: z.number(),
  /** Unix seconds at which the oldest counted request leaves the window. */
  reset: z.number(),
  refused: z.object({ scope: Scope, limit: z.number(), retry_after: z.number() }).optional(),
});
export type Limits = z.infer<typeof Limits>;

/** A gateway passes only flat strings from the authorizer to the handler. */
export const AuthorizerContext = z.object({
  request_id: z.string(),
  caller: z.string().transform((text) => Caller.parse(JSON.parse(text))),
  limits: z.string().transform((text) => Limits.parse(JSON.parse(text))),
});
export type AuthorizerContext = z.output<typeof AuthorizerContext>;
