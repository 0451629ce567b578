// Receivers that exist only in the test environment, and need no network: each fails in its own way.
import { receiverReason } from "../../domain/receiver-reasons.ts";
import { env } from "../../platform/env.ts";
import { OutboundError, type Response } from "../../platform/outbound.ts";

const respond = (status: number, excerpt: string): Response => ({ status, retryAfter: undefined, excerpt });

/** How many tries of a delivery `flaky.example` fails. */
const FLAKY_TRIES = 2;

const RECEIVERS: Readonly<Record<string, (tries: number) => Response>> = {
  "fail-410.example": () => respond(410, "Gone"),
  "flaky.example": (tries) => (tries < FLAKY_TRIES ? respond(500, "Try again") : respond(200, "ok")),
  "slow.example": () => {
    throw new OutboundError(receiverReason("receiver_silent", { seconds: "10" }), true);
  },
};

export const isSandboxReceiver = (url: string): boolean =>
  env().ENVIRONMENT === "test" && URL.canParse(url) && Object.hasOwn(RECEIVERS, new URL(url).hostname);

/** Its response to a delivery that had so many tries before; undefined for any other receiver. */
export const sandboxReceiver = (url: string, tries: number): Response | undefined =>
  isSandboxReceiver(url) ? RECEIVERS[new URL(url).hostname]?.(tries) : undefined;
