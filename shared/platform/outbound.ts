// Requests to addresses that customers choose: the one guard against being sent to what only we can reach.
//
// The name is resolved by us, every address is checked, and the connection goes to an address that was checked: a name that
// changes between check and connection leads nowhere else. There are no redirects, no proxies and no decompression, and no more
// is read than is kept.
import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import ipaddr from "ipaddr.js";
import type { PROBLEMS } from "../domain/problems.ts";
import { type ReceiverReason, receiverReason, receiverReasonInEnglish } from "../domain/receiver-reasons.ts";
import { withTimeout } from "./with-timeout.ts";

const PORTS: readonly string[] = ["", "443", "8443"];
const URL_PROBLEMS = {
  field_https: "must be https",
  field_private_address: "must not lead to a private address",
  field_url_credentials: "must not contain a user name or password",
  field_own_service: "must not lead to this service",
  field_https_port: "must use port 443 or 8443",
  field_unresolved: "does not resolve",
} as const satisfies Partial<typeof PROBLEMS>;
type UrlProblem = (typeof URL_PROBLEMS)[keyof typeof URL_PROBLEMS];

/** Resolves a name to all of its addresses. Tests have their own. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

const RESOLVE_MS = 3_000;

const resolveAll: Resolve = async (hostname) => {
  const addresses = await withTimeout(lookup(hostname, { all: true }), RESOLVE_MS, new Error("DNS timeout"));
  return addresses.map(({ address }) => address);
};

/** Global IPv6 addresses (RFC 4291, 2000::/3): what is outside of it has another meaning, or none yet. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** Azure gives each of its machines what is meant for it alone there, though the address is a public one. */
const AZURE_HOST = "168.63.129.16";

/** Whether an address belongs to the public internet, and to one machine there. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address.range() === "unicast" && address.toString() !== AZURE_HOST;
  if (address.zoneId !== undefined) return false;
  if (address.isIPv4MappedAddress()) return isPublicAddress(address.toIPv4Address().toString());
  // NAT64, 6to4 and Teredo contain an IPv4 address of anywhere. Nobody's receiver needs them.
  return address.range() === "unicast" && address.match(GLOBAL_IPV6);
}

/** Returns the host without the brackets of an IPv6 address. */
const readHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");

interface Guard {
  /** Whether `http://127.0.0.1` and `http://localhost`, with any port, are receivers too: only on one machine, in `test`. */
  loopback: boolean;
  /** The hosts of this service itself, with their ports. */
  ownHosts?: readonly string[];
  resolve?: Resolve;
}

const LOOPBACK: readonly string[] = ["127.0.0.1", "localhost"];
const isLoopbackName = ({ protocol, hostname }: URL): boolean => protocol === "http:" && LOOPBACK.includes(hostname);
const isLoopback = (url: URL, { loopback }: Guard): boolean => loopback && isLoopbackName(url);

/** On one machine, this service has the two names of loopback. */
const isOwn = (url: URL, { ownHosts = [] }: Guard): boolean =>
  ownHosts.some((host) => host === url.host.replace(/\.(?=:|$)/, "") || (isLoopbackName(url) && host.endsWith(`:${url.port}`)));

/** What forbids a URL by itself, before anything is resolved. */
export function findUrlProblem(text: string, guard: Guard): UrlProblem | undefined {
  if (!URL.canParse(text)) return URL_PROBLEMS.field_https;
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return URL_PROBLEMS.field_url_credentials;
  if (isOwn(url, guard)) return URL_PROBLEMS.field_own_service;
  if (isLoopback(url, guard)) return undefined;
  if (url.protocol !== "https:") return URL_PROBLEMS.field_https;
  if (!PORTS.includes(url.port)) return URL_PROBLEMS.field_https_port;
  const host = readHost(url);
  if (isIP(host) !== 0) return isPublicAddress(host) ? undefined : URL_PROBLEMS.field_private_address;
  return /(?:^|\.)(?:localhost|local|internal)\.?$/.test(host) || !host.includes(".")
    ? URL_PROBLEMS.field_private_address
    : undefined;
}

/** What forbids a URL now, with the addresses that its name has at this moment. */
export async function findTargetProblem(
  field: string,
  text: string,
  guard: Guard,
): Promise<{ field: string; reason: string } | undefined> {
  const reason = findUrlProblem(text, guard) ?? (await findNameProblem(new URL(text), guard));
  return reason === undefined ? undefined : { field, reason };
}

async function findNameProblem(url: URL, guard: Guard): Promise<string | undefined> {
  if (isLoopback(url, guard) || isIP(readHost(url)) !== 0) return undefined;
  const addresses = await (guard.resolve ?? resolveAll)(readHost(url)).catch(() => []);
  if (addresses.length === 0) return URL_PROBLEMS.field_unresolved;
  return addresses.every(isPublicAddress) ? undefined : URL_PROBLEMS.field_private_address;
}

export interface Outbound {
  url: string;
  headers: Record<string, string>;
  /** Sent with POST; without one the request is a GET. */
  body?: Uint8Array;
  /** The time for everything: resolving, connecting, sending, and what is read of the response. */
  timeoutMs: number;
  /** How much of the response is read. */
  keepBytes: number;
  /** Whether the response is of use only as a whole: a longer one, or one that does not end in time, is an error. */
  mustBeWhole?: boolean;
}

export interface Response {
  status: number;
  /** A whole number of seconds, if the response has one. */
  retryAfter: number | undefined;
  excerpt: string;
}

/** Why there was no response, in words for the receiver's owner. */
export class OutboundError extends Error {
  override name = "OutboundError";
  readonly reason: ReceiverReason;
  readonly timedOut: boolean;
  constructor(reason: ReceiverReason, timedOut = false) {
    super(receiverReasonInEnglish(reason));
    this.reason = reason;
    this.timedOut = timedOut;
  }
}

/** Sends a request to a checked address, and reads the beginning of the response. */
export async function request(outbound: Outbound, guard: Guard): Promise<Response> {
  const problem = findUrlProblem(outbound.url, guard);
  if (problem !== undefined) throw new OutboundError(forbidden(problem));
  const url = new URL(outbound.url);
  let stop: (error: Error) => void = () => undefined;
  const timeout = new Promise<never>((_, reject) => (stop = reject));
  const timer = setTimeout(
    () => stop(new OutboundError(receiverReason("receiver_silent", { seconds: String(outbound.timeoutMs / 1000) }), true)),
    outbound.timeoutMs,
  );
  try {
    return await Promise.race([send(url, outbound, guard, timeout), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the reason with the code of the problem, as for a sentence within another (parts.ts). */
function forbidden(urlProblem: UrlProblem): ReceiverReason {
  const [why_code = ""] = Object.entries(URL_PROBLEMS).find(([, problem]) => problem === urlProblem) ?? [];
  return receiverReason("receiver_url", { why: urlProblem, why_code });
}

const BODY_MS = 1_000;

function send(
  url: URL,
  { headers, body, keepBytes, mustBeWhole = false }: Outbound,
  guard: Guard,
  timeout: Promise<never>,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const local = isLoopback(url, guard);
    const sending = (local ? requestHttp : requestHttps)(url, {
      method: body === undefined ? "GET" : "POST",
      headers: { ...headers, ...(body !== undefined && { "content-length": String(body.length) }) },
      agent: false,
      // An address is not looked up: `localhost` may be one on which another program listens.
      ...(local ? { hostname: "127.0.0.1" } : { lookup: checkedLookup(guard.resolve ?? resolveAll) }),
    });
    timeout.catch((error: unknown) => sending.destroy(error instanceof Error ? error : undefined));
    sending.on("error", (error) => reject(error instanceof OutboundError ? error : new OutboundError(describeError(error))));
    sending.on("response", (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const stopAt = (error: OutboundError): void => {
        sending.destroy();
        reject(error);
      };
      const finish = (): void => {
        clearTimeout(bodyTimer);
        // Nothing that arrives later is read.
        sending.destroy();
        const seconds = Number(response.headers["retry-after"]);
        resolve({
          status: response.statusCode ?? 0,
          retryAfter: Number.isInteger(seconds) && seconds >= 0 ? seconds : undefined,
          excerpt: Buffer.concat(chunks).subarray(0, keepBytes).toString("utf8"),
        });
      };
      // The status is the result: a body that drips holds nothing up.
      const bodyTimer = mustBeWhole ? undefined : setTimeout(finish, BODY_MS);
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (mustBeWhole && size > keepBytes) stopAt(new OutboundError(receiverReason("receiver_too_long")));
        else if (!mustBeWhole && size >= keepBytes) finish();
      });
      response.on("end", finish);
      response.on("error", (error) => reject(new OutboundError(describeError(error))));
    });
    sending.end(body);
  });
}

/** The connection asks this for all addresses, so that none is used that was not checked. */
const checkedLookup = (resolve: Resolve): LookupFunction =>
  callbackify(async (...[hostname]: [hostname: string, options: unknown]): Promise<LookupAddress[]> => {
    const addresses = await resolve(hostname).catch(() => []);
    if (addresses.length === 0) throw new OutboundError(receiverReason("receiver_unresolved"));
    if (!addresses.every(isPublicAddress)) throw new OutboundError(receiverReason("receiver_private"));
    return addresses.map((address) => ({ address, family: isIP(address) }));
  });

/** Node's codes, for those that happen to receivers. */
function describeError(error: NodeJS.ErrnoException): ReceiverReason {
  const { code = "" } = error;
  if (code === "ECONNREFUSED") return receiverReason("receiver_closed_port");
  if (code === "ECONNRESET" || code === "EPIPE") return receiverReason("receiver_closed");
  if (code === "EHOSTUNREACH" || code === "ENETUNREACH") return receiverReason("receiver_unreached");
  if (/CERT|TLS|SSL|SIGNED/.test(code)) return receiverReason("receiver_certificate");
  if (code.startsWith("HPE_")) return receiverReason("receiver_no_http");
  return receiverReason("receiver_failed");
}
