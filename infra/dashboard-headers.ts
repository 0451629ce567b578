// The headers under which the dashboard is shown, the same from CloudFront and from the local server.
import type { Environment } from "../shared/domain/environments.ts";

/** Nothing but what comes from the dashboard's own address; no script or style in a page's markup, and nobody may frame it. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Headers that are not CloudFront's own fields for security. */
export const OTHER_HEADERS: Readonly<Record<string, string>> = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  ...OTHER_HEADERS,
};

/** Of hashed files, whose content never changes under their name, and of all others, which name those. */
export const CACHE_FOR_EVER = "public, max-age=31536000, immutable";
export const CACHE_NOT = "no-cache";

/** What a deployment says of itself to its dashboard, at `/config.json`. */
export interface DashboardConfig {
  environment: Environment;
  other_dashboard: { environment: Environment; url: string } | null;
  /** Where the API's page is, if this server shows one. */
  api_page: string | null;
}
