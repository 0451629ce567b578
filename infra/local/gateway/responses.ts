// Responses: those of functions, with API Gateway's renames, and the gateway's own from the template.
import { validateHeaderName, validateHeaderValue } from "node:http";
import * as z from "zod";
import type { GatewayResponse } from "../template/api.ts";
import { GATEWAY_ERRORS, GatewayError, type GatewayErrorType } from "./errors.ts";
import type { Exchange, Many } from "./request.ts";

export interface HttpResponse {
  status: number;
  headers: [string, string][];
  body: Buffer;
}

const ProxyResponse = z.object({
  statusCode: z.coerce.number().int().min(200).max(599),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullish(),
  multiValueHeaders: z.record(z.string(), z.array(z.union([z.string(), z.number(), z.boolean()]))).nullish(),
  body: z.string().nullish(),
});

// What API Gateway renames in and removes from a function's headers; a product that needs one of them finds out here.
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

export function functionResponse(result: unknown): HttpResponse {
  const parsed = ProxyResponse.safeParse(result);
  if (!parsed.success) throw new GatewayError("DEFAULT_5XX", `Malformed Lambda proxy response: ${z.prettifyError(parsed.error)}`);
  const { statusCode, headers, multiValueHeaders, body } = parsed.data;
  const many: Many = new Map();
  for (const [name, value] of Object.entries(headers ?? {})) many.set(name.toLowerCase(), [String(value)]);
  for (const [name, values] of Object.entries(multiValueHeaders ?? {})) many.set(name.toLowerCase(), values.map(String));
  if (!many.has("content-type")) many.set("content-type", ["application/json"]);
  const otherHeaders = [...many].filter(([name]) => !DROPPED.includes(name));
  const remappedHeaders = otherHeaders.flatMap(([name, values]) =>
    values.map((value): [string, string] => [REMAPPED.includes(name) ? `x-amzn-remapped-${name}` : name, value]),
  );
  try {
    for (const [name, value] of remappedHeaders) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
  } catch (cause) {
    throw new GatewayError("DEFAULT_5XX", cause);
  }
  return { status: statusCode, headers: remappedHeaders, body: Buffer.from(body ?? "") };
}

/** A header's value as gateway responses declare it: a 'literal' in quotes, the request's ID, or a value of the authorizer's. */
function readValue(source: string, { requestId, authorizer }: Exchange): string | undefined {
  if (source.startsWith("'")) return source.slice(1, -1);
  return source === "context.requestId" ? requestId : authorizer[source.replace("context.authorizer.", "")];
}

const HEADER = "gatewayresponse.header.";
const JSON_TYPE = "application/json";

export function errorResponse(
  type: GatewayErrorType,
  exchange: Exchange,
  responses: ReadonlyMap<string, GatewayResponse>,
): HttpResponse {
  const [status, message] = GATEWAY_ERRORS[type];
  const response = responses.get(type) ?? responses.get(status < 500 ? "DEFAULT_4XX" : "DEFAULT_5XX");
  const headers = Object.entries(response?.responseParameters ?? {}).flatMap(([name, source]): [string, string][] => {
    const value = readValue(source, exchange);
    return value === undefined ? [] : [[name.slice(HEADER.length).toLowerCase(), value]];
  });
  const all = new Map([["content-type", JSON_TYPE], ["x-amzn-errortype", type], ...headers]);
  const body = response?.responseTemplates[JSON_TYPE] ?? JSON.stringify({ message });
  return { status: response?.statusCode ?? status, headers: [...all], body: Buffer.from(body) };
}
