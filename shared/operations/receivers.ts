// Where webhooks may lead in this environment, and which receivers are slow.
import { invalid } from "../api/errors.ts";
import { env } from "../platform/env.ts";
import { findTargetProblem, findUrlProblem } from "../platform/outbound.ts";
import type { WebhookHealth } from "../records/schemas/webhook.ts";
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
  const guard = { ...receiverGuard(), own: [ownHost, process.env[OWN_DOMAIN]].filter((host) => host !== undefined) };
  if (isSandboxReceiver(url) && findUrlProblem(url, guard) === undefined) return;
  const problem = await findTargetProblem("url", url, guard);
  if (problem !== undefined) throw invalid(problem);
}

/** Tries without a response in time, in a row, after which a receiver is slow. */
export const LATE = 2;
export const isSlow = (health: WebhookHealth | undefined): boolean => (health?.timeouts ?? 0) >= LATE;
