// Where webhooks may lead in this environment, and which receivers are slow.
import { invalid } from "../api/errors.ts";
import { env } from "../platform/env.ts";
import { problemOfTarget } from "../platform/outbound.ts";
import type { WebhookHealth } from "../records/schemas/webhook.ts";
import { isSandboxReceiver } from "./sandbox-receivers.ts";

/** Set by `npm start` alone. */
const LOOPBACK = "LOOPBACK_RECEIVERS";

/** Receivers on this machine exist only where the service runs on this machine, in `test`. */
export const receiverGuard = (): { loopback: boolean } => ({
  loopback: env().ENVIRONMENT === "test" && process.env[LOOPBACK] === "true",
});

/** Rejects a URL that leads to where we alone can go, as far as that can be known now. It is checked again with each connection. */
export async function requireTarget(url: string): Promise<void> {
  if (isSandboxReceiver(url)) return;
  const problem = await problemOfTarget("url", url, receiverGuard());
  if (problem !== undefined) throw invalid(problem);
}

/** Tries without a response in time, in a row, after which a receiver is slow. */
export const LATE = 2;
export const isSlow = (health: WebhookHealth | undefined): boolean => (health?.timeouts ?? 0) >= LATE;
