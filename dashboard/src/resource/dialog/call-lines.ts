// A request of the dashboard in words that a program can use: for the shell, and for the typed client.
import { BASE_PATH } from "../../../../shared/api/base-path.ts";
import type { ApiRequest } from "../../app/client.ts";
import { endpoints as table } from "../../app/endpoints.ts";

/** API keys cannot be used for it. */
export const isForSessions = (request: ApiRequest): boolean => callOf(request).endpoint.forSessions;

export function curlLine({ method, url, headers, body }: ApiRequest): string {
  const { authorization: _, accept: __, ...otherHeaders } = headers;
  return [
    `curl -X ${method} ${quoted(url)}`,
    '-H "Authorization: Bearer $TOKEN"',
    ...Object.entries(otherHeaders).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(JSON.stringify(withoutPasswords(body)))}`]),
  ].join(" \\\n  ");
}

export function clientLine(request: ApiRequest): string {
  const { resource, name, params, query } = callOf(request);
  const { body, headers } = request;
  const call = {
    ...(Object.keys(params).length > 0 && { params }),
    ...(Object.keys(query).length > 0 && { query }),
    ...(body !== undefined && { body: withoutPasswords(body) }),
    ...(headers["idempotency-key"] !== undefined && { idempotencyKey: headers["idempotency-key"] }),
  };
  return `await client.${resource}.${name}(${Object.keys(call).length === 0 ? "" : literal(call)});`;
}

/** The typed client's call that sends a request, found in the table that the client is built from. */
function callOf({ method, url }: ApiRequest) {
  const { pathname, searchParams } = new URL(url);
  for (const [resource, endpoints] of Object.entries(table))
    for (const [name, endpoint] of Object.entries(endpoints)) {
      const match = endpoint.method === method ? patternOf(endpoint.path).exec(pathname) : null;
      if (match === null) continue;
      const params = Object.fromEntries(
        Object.entries(match.groups ?? {}).map(([key, value]) => [key, decodeURIComponent(value)]),
      );
      return { resource, name, endpoint, params, query: Object.fromEntries(searchParams) };
    }
  throw new Error(`No endpoint is ${method} ${pathname}`);
}

const patternOf = (path: string): RegExp => new RegExp(`^${BASE_PATH}${path.replace(/:(\w+)/g, "(?<$1>[^/]+)")}$`);

/** What a user types as a password belongs on no clipboard. */
function withoutPasswords(body: unknown): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, /password/.test(name) ? "…" : value]));
}

/** In single quotes nothing means anything to a shell, except a single quote. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Writes the value as one does in TypeScript: keys that are names stand without quotes. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  const written = entries.map(([key, each]) => `${/^[a-z_]\w*$/i.test(key) ? key : JSON.stringify(key)}: ${literal(each)}`);
  return written.length === 0 ? "{}" : `{ ${written.join(", ")} }`;
}
