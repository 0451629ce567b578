// A request as API Gateway sees it: read within its limits, or refused by the type that gateway responses are named after.
import type { IncomingMessage } from "node:http";
import { CLIENT_ADDRESS_HEADER } from "../../../shared/runtime/origin.ts";
import type { ApiResource } from "../template/template.ts";

export const BODY_LIMIT_BYTES = 10 * 1024 * 1024;

/** What API Gateway answers when it does not, or cannot, pass a request on: status and message unless the template has its own. */
export const REFUSALS = {
  MISSING_AUTHENTICATION_TOKEN: [403, "Missing Authentication Token"],
  UNAUTHORIZED: [401, "Unauthorized"],
  ACCESS_DENIED: [403, "User is not authorized to access this resource"],
  AUTHORIZER_FAILURE: [500, "Internal server error"],
  AUTHORIZER_CONFIGURATION_ERROR: [500, "Internal server error"],
  BAD_REQUEST_BODY: [400, "Invalid request body"],
  BAD_REQUEST_PARAMETERS: [400, "Bad Request"],
  REQUEST_TOO_LARGE: [413, "Request Too Long"],
  // Of a type that has no name: the default's response, with this status.
  URI_TOO_LONG: [414, "Request URI too long"],
  // A function that Lambda throttles: 500, unless the template has a response for this type.
  INTEGRATION_FAILURE: [500, "Internal server error"],
  INTEGRATION_TIMEOUT: [504, "Endpoint request timed out"],
  // A function that failed, or whose answer is none: AWS has no type of its own for it, and a status that the default does not have.
  DEFAULT_5XX: [502, "Internal server error"],
} as const;
export type RefusalType = keyof typeof REFUSALS;

export class Refusal extends Error {
  readonly type: RefusalType;
  constructor(type: RefusalType, cause?: unknown) {
    super(type, { cause });
    this.type = type;
  }
}

export type Many = Map<string, string[]>;
export interface Exchange {
  requestId: string;
  startedAt: number;
  method: string;
  path: string;
  headers: Many;
  query: Many;
  sourceIp: string;
  resource?: ApiResource;
  parameters: Record<string, string>;
  authorizer: Record<string, string>;
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new Refusal("BAD_REQUEST_PARAMETERS", cause);
  }
}

function add(many: Many, name: string, value: string): void {
  const known = [...many.keys()].find((each) => each.toLowerCase() === name.toLowerCase()) ?? name;
  many.set(known, [...(many.get(known) ?? []), value]);
}

export function queryOf(text: string): Many {
  const query: Many = new Map();
  for (const pair of text.split("&").filter(Boolean)) {
    const equals = pair.includes("=") ? pair.indexOf("=") : pair.length;
    const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)].map((part) => decoded(part.replaceAll("+", " ")));
    query.set(name ?? "", [...(query.get(name ?? "") ?? []), value ?? ""]);
  }
  return query;
}

/** The request's headers, with those that CloudFront puts in the place of what a client sends under their names. */
export function headersOf(request: IncomingMessage, front: Record<string, string> | undefined): Many {
  const headers: Many = new Map();
  for (let index = 0; index + 1 < request.rawHeaders.length; index += 2)
    add(headers, request.rawHeaders[index] ?? "", request.rawHeaders[index + 1] ?? "");
  const from = request.socket.remoteAddress ?? "127.0.0.1";
  const forwarded = "X-Forwarded-For";
  const before = headers.get(forwarded)?.join(", ");
  headers.set(forwarded, [before === undefined ? from : `${before}, ${from}`]);
  headers.set("X-Forwarded-Port", [String(request.socket.localPort ?? "")]).set("X-Forwarded-Proto", ["http"]);
  if (front === undefined) return headers;
  const added = Object.entries({ ...front, [CLIENT_ADDRESS_HEADER]: from });
  const theirs = added.map(([name]) => name.toLowerCase());
  const kept = [...headers].filter(([name]) => !theirs.includes(name.toLowerCase()));
  return new Map([...kept, ...added.map(([name, value]): [string, string[]] => [name, [value]])]);
}

export const headerIn = (headers: Many, name: string): string | undefined =>
  [...headers].find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1].at(-1);

/** Reads to the end in any case: a client that still sends would see a broken connection instead of the refusal. */
export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    if (size <= BODY_LIMIT_BYTES) chunks.push(bytes);
    else chunks.length = 0;
  }
  if (size > BODY_LIMIT_BYTES) throw new Refusal("REQUEST_TOO_LARGE");
  return Buffer.concat(chunks);
}
