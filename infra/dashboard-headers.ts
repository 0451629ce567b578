// The headers of the dashboard, the same from CloudFront and from the local server.
import type { Environment } from "../shared/domain/environments.ts";

/**
 * Allows only the dashboard's own origin and the storage to which it uploads archives, no inline script or style, and no framing.
 */
export const contentSecurityPolicy = (storeUrl: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self' ${storeUrl}`,
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** Headers that CloudFront has no security field for. */
export const OTHER_HEADERS: Readonly<Record<string, string>> = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

export const securityHeaders = (storeUrl: string): Readonly<Record<string, string>> => ({
  "content-security-policy": contentSecurityPolicy(storeUrl),
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  ...OTHER_HEADERS,
});

/**
 * The first value is for hashed files, whose content never changes under their name, and the second for all others, which name
 * those.
 */
export const CACHE_FOR_EVER = "public, max-age=31536000, immutable";
export const CACHE_NOT = "no-cache";

/** What the operator's dashboard shows instead of its own. */
export interface Brand {
  name: string;
  /** A data URL. */
  logo: string | null;
  color: string | null;
  support_url: string | null;
}

/** What a deployment tells its dashboard, at `/config.json`. */
export interface DashboardConfig {
  environment: Environment;
  other_dashboard: { environment: Environment; url: string } | null;
  /** The path of the API page, if this server has one. */
  api_page: string | null;
  brand: Brand | null;
}
