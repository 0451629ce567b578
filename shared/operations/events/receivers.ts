// These rules say where webhooks and identity providers may be in this environment, and which receivers are slow.
import { invalid } from "../../api/errors.ts";
import { env } from "../../platform/env.ts";
import { findTargetProblem, findUrlProblem } from "../../platform/outbound.ts";
import type { WebhookHealth } from "../../records/schemas/webhook.ts";
import { isSandboxReceiver } from "./sandbox-receivers.ts";

/** Set by `npm start` alone. */
const LOOPBACK = "LOOPBACK_RECEIVERS";
/** The operator's domain, if there is one: requests that come through CloudFront name the API's own host instead. */
const OWN_DOMAIN = "OWN_DOMAIN";

/** Receivers on this machine exist only where the service runs on this machine, in `test`. */
export const receiverGuard = (): { loopback: boolean } => ({
  loopback: env().ENVIRONMENT === "test" && process.env[LOOPBACK] === "true",
});

/**
 * Rejects a URL that leads to where we alone can go, or back to the host that the request came to, as far as that can be known
 * now. It is checked again with each connection.
 */
export async function requireTarget(url: string, ownHost: string): Promise<void> {
  if (isSandboxReceiver(url) && findUrlProblem(url, ownGuard(ownHost)) === undefined) return;
  await requireOutside("url", url, ownHost);
}

/** The same for any other field, without the sandbox's receivers. */
export async function requireOutside(field: string, url: string, ownHost: string): Promise<void> {
  const problem = await findTargetProblem(field, url, ownGuard(ownHost));
  if (problem !== undefined) throw invalid(problem);
}

const ownGuard = (ownHost: string) => ({
  ...receiverGuard(),
  ownHosts: [ownHost, process.env[OWN_DOMAIN]].filter((host) => host !== undefined),
});

/** Tries without a response in time, in a row, after which a receiver is slow. */
export const SLOW_AFTER = 2;
export const isSlow = (health: WebhookHealth | undefined): boolean => (health?.timeouts ?? 0) >= SLOW_AFTER;
