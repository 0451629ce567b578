// What one address may send without a valid credential: a bound on guesses and floods, as a firewall's rate rule is in front of
// AWS.
import { ERRORS } from "../../../shared/api/errors.ts";
import { toNetwork } from "../../../shared/domain/network.ts";
import type { Exchange } from "./request.ts";
import type { HttpResponse } from "./responses.ts";

/** Generous: a sign-in with all pages of the dashboard is some 20 requests, and an office may share an address. */
export const UNAUTHENTICATED_MAX = 2_000;
const WINDOW_SECONDS = 300;
/** Networks that are remembered at a time: then the one whose window began first is forgotten. */
const ADDRESSES_MAX = 10_000;

export interface UnauthenticatedLimit {
  /** Counts a request that had no valid credential. */
  count: (address: string) => void;
  /** The response to a further one; undefined while there have not been too many. */
  rejection: (request: Pick<Exchange, "sourceIp" | "requestId">) => HttpResponse | undefined;
}

export function limitUnauthenticated(max: number, now: () => number = Date.now): UnauthenticatedLimit {
  /** The windows in the order in which they began, which is also that of their ends. */
  const windows = new Map<string, { endsAt: number; requests: number }>();
  const findWindow = (network: string) => {
    const window = windows.get(network);
    return window !== undefined && window.endsAt > now() ? window : undefined;
  };
  return {
    count: (address) => {
      const network = toNetwork(address);
      const window = findWindow(network);
      if (window !== undefined) {
        window.requests += 1;
        return;
      }
      windows.delete(network); // one that is over: the new one is the last
      const [oldest] = windows.keys();
      if (oldest !== undefined && windows.size >= ADDRESSES_MAX) windows.delete(oldest);
      windows.set(network, { endsAt: now() + WINDOW_SECONDS * 1000, requests: 1 });
    },
    rejection: ({ sourceIp, requestId }) => {
      const window = findWindow(toNetwork(sourceIp));
      if (window === undefined || window.requests < max) return undefined;
      return rejected(max, Math.ceil((window.endsAt - now()) / 1000), requestId);
    },
  };
}

function rejected(limit: number, retryAfter: number, requestId: string): HttpResponse {
  const code = "RATE_LIMIT_EXCEEDED";
  const { status, message } = ERRORS[code];
  const error = { code, message, details: { limit, window_seconds: WINDOW_SECONDS, scope: "address" } };
  const headers: HttpResponse["headers"] = [
    ["content-type", "application/json"],
    ["cache-control", "no-store"],
    ["x-content-type-options", "nosniff"],
    ["retry-after", String(retryAfter)],
    ["x-request-id", requestId],
  ];
  return { status, headers, body: Buffer.from(JSON.stringify({ success: false, error })) };
}
