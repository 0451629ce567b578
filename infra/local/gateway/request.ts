// A request as API Gateway sees it: read within its limits, or rejected with a gateway error.
import type { IncomingMessage } from "node:http";
import { CLIENT_ADDRESS_HEADER, DASHBOARD_ORIGIN_HEADER } from "../../../shared/runtime/origin.ts";
import { dashboardUrl } from "../dashboard-url.ts";
import type { ApiResource } from "../template/api.ts";
import { GatewayError } from "./errors.ts";

export const BODY_LIMIT_BYTES = 10 * 1024 * 1024;

export type Many = Map<string, string[]>;
export interface Exchange {
  requestId: string;
  startedAt: number;
  method: string;
  path: string;
  headers: Many;
  query: Many;
  sourceIp: string;
  /** Nobody has found a valid credential in it. */
  isUnauthenticated: boolean;
  resource?: ApiResource;
  parameters: Record<string, string>;
  authorizer: Record<string, string>;
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new GatewayError("BAD_REQUEST_PARAMETERS", cause);
  }
}

function add(many: Many, name: string, value: string): void {
  const firstSpelling = [...many.keys()].find((each) => each.toLowerCase() === name.toLowerCase()) ?? name;
  many.set(firstSpelling, [...(many.get(firstSpelling) ?? []), value]);
}

export function parseQuery(text: string): Many {
  const query: Many = new Map();
  for (const pair of text.split("&").filter(Boolean)) {
    const equals = pair.includes("=") ? pair.indexOf("=") : pair.length;
    const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)].map((part) => decoded(part.replaceAll("+", " ")));
    query.set(name ?? "", [...(query.get(name ?? "") ?? []), value ?? ""]);
  }
  return query;
}

/** The request's headers, with those that CloudFront sets instead of a client's under the same names. */
export function readHeaders(request: IncomingMessage, front: Record<string, string> | undefined): Many {
  const headers: Many = new Map();
  for (let index = 0; index + 1 < request.rawHeaders.length; index += 2)
    add(headers, request.rawHeaders[index] ?? "", request.rawHeaders[index + 1] ?? "");
  const from = request.socket.remoteAddress ?? "127.0.0.1";
  const forwarded = "X-Forwarded-For";
  const before = headers.get(forwarded)?.join(", ");
  headers.set(forwarded, [before === undefined ? from : `${before}, ${from}`]);
  headers.set("X-Forwarded-Port", [String(request.socket.localPort ?? "")]).set("X-Forwarded-Proto", ["http"]);
  if (front === undefined) return headers;
  const origin = dashboardUrl(`http://127.0.0.1:${request.socket.localPort ?? ""}`);
  const added = Object.entries({ ...front, [CLIENT_ADDRESS_HEADER]: from, [DASHBOARD_ORIGIN_HEADER]: origin });
  const addedNames = added.map(([name]) => name.toLowerCase());
  const otherHeaders = [...headers].filter(([name]) => !addedNames.includes(name.toLowerCase()));
  return new Map([...otherHeaders, ...added.map(([name, value]): [string, string[]] => [name, [value]])]);
}

export const headerIn = (headers: Many, name: string): string | undefined =>
  [...headers].find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1].at(-1);

/** Always reads to the end: a client that still sends would see a broken connection instead of the error. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    if (size <= BODY_LIMIT_BYTES) chunks.push(bytes);
    else chunks.length = 0;
  }
  if (size > BODY_LIMIT_BYTES) throw new GatewayError("REQUEST_TOO_LARGE");
  return Buffer.concat(chunks);
}
