// What one address may send without a valid credential: a bound on guesses and floods, as a firewall's rate rule is in front of
// AWS.
import { ERRORS } from "../../../shared/api/errors.ts";
import { toNetwork } from "../../../shared/domain/network.ts";
import type { Exchange } from "./request.ts";
import type { HttpResponse } from "./responses.ts";

/** Generous: a sign-in with all pages of the dashboard is some 20 requests, and an office may share an address. */
export const UNAUTHENTICATED_MAX = 2_000;
const WINDOW_SECONDS = 300;
/** Addresses that are remembered at a time, before those whose window is over are forgotten. */
const ADDRESSES_MAX = 10_000;

export interface UnauthenticatedLimit {
  /** Counts a request that had no valid credential. */
  count: (address: string) => void;
  /** The response to a further one; undefined while there have not been too many. */
  rejection: (request: Pick<Exchange, "sourceIp" | "requestId">) => HttpResponse | undefined;
}

export function limitUnauthenticated(max: number, now: () => number = Date.now): UnauthenticatedLimit {
  const windows = new Map<string, { endsAt: number; requests: number }>();
  const findWindow = (network: string) => {
    const window = windows.get(network);
    return window !== undefined && window.endsAt > now() ? window : undefined;
  };
  return {
    count: (address) => {
      const network = toNetwork(address);
      const window = findWindow(network) ?? { endsAt: now() + WINDOW_SECONDS * 1000, requests: 0 };
      window.requests += 1;
      if (windows.size >= ADDRESSES_MAX) for (const [each, { endsAt }] of windows) if (endsAt <= now()) windows.delete(each);
      windows.set(network, window);
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
