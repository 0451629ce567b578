// CloudFront, which is in front of the API: it proves with a key that a request came through it, and passes on the client's IP
// address.
import { createHash, timingSafeEqual } from "node:crypto";
import { ApiError } from "../api/errors.ts";
import { plainAddress } from "../domain/network.ts";
import { variable } from "../platform/env.ts";
import { header, type Headers } from "./request-context.ts";

export const ORIGIN_KEY_HEADER = "x-origin-key";
export const CLIENT_ADDRESS_HEADER = "x-client-address";

/** The header with the dashboard's origin, as it was configured: never what a client says. Passkeys are for this origin alone. */
export const DASHBOARD_ORIGIN_HEADER = "x-dashboard-origin";

/** The variable with the accepted keys, separated by a space: two while one replaces the other. */
export const ORIGIN_KEYS = "ORIGIN_KEYS";

let accepted: Buffer[] | undefined;

const hash = (text: string): Buffer => createHash("sha256").update(text).digest();

/** The client's IP address; undefined if the request bypassed CloudFront, because then its headers cannot be trusted. */
export function clientAddress(headers: Headers): string | undefined {
  accepted ??= variable(ORIGIN_KEYS).split(" ").map(hash);
  const sent = hash(header(headers, ORIGIN_KEY_HEADER) ?? "");
  const isCloudFront = accepted.some((key) => timingSafeEqual(key, sent));
  const address = isCloudFront ? header(headers, CLIENT_ADDRESS_HEADER) : undefined;
  return address === undefined ? undefined : plainAddress(address);
}

/** The dashboard's origin. CloudFront sets it for whoever comes through it, which is checked before. */
export function dashboardOrigin(headers: Headers): string {
  const origin = header(headers, DASHBOARD_ORIGIN_HEADER);
  if (origin === undefined) throw new Error("CloudFront did not say where the dashboard is");
  return origin;
}

export const bypassedCloudFront = (): ApiError => new ApiError("FORBIDDEN", "Send requests to the service's own address");
