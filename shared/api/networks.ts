// Networks in requests: where an API token works from, and where an account's people sign in.
import * as z from "zod";
import { ALLOWED_IPS_MAX } from "../domain/limits.ts";
import { parseNetwork } from "../domain/network.ts";

const NOT_A_NETWORK = "must be an IPv4 network, or an IPv6 network of /64 or shorter";

const network = z
  .string()
  .regex(/^[\dA-Fa-f.:/]{1,49}$/, { error: NOT_A_NETWORK, abort: true })
  .refine((text) => parseNetwork(text) !== undefined, NOT_A_NETWORK)
  .meta({ maxLength: 49 });

export const networks = z
  .array(network)
  .max(ALLOWED_IPS_MAX, `must contain at most ${ALLOWED_IPS_MAX}`)
  .meta({ maxItems: ALLOWED_IPS_MAX });
