// What holds of machines whoever rents them out: that none is made twice, and none is left behind.
import type { ServerRecord } from "../data/records.ts";
import { GiveUp } from "../platform/task-errors.ts";
import { NotNow } from "./http.ts";
import { providerOf } from "./index.ts";
import type { Provider } from "./provider.ts";

/** Whether what was asked for before would be shown by now, so that what is not shown is not there. */
export const isSettled = ({ settleSeconds }: Provider, { requested_at }: Pick<ServerRecord, "requested_at">): boolean =>
  requested_at === null || Date.now() - Date.parse(requested_at) >= settleSeconds * 1000;

/** Whether a request that ended so has surely made no machine. */
export const wasRefused = (error: unknown): boolean => error instanceof GiveUp || error instanceof NotNow;

/** Gives all machines of a server back; true once there are none, and none can show up any more. */
export async function release(server: ServerRecord): Promise<boolean> {
  const { id: server_id, account_id, machine_id } = server;
  // Nothing was bought: a provider that refuses our credentials need not be asked, and would refuse this, too.
  if (machine_id === null && server.requested_at === null) return true;
  const provider = await providerOf(server);
  // As of before it is asked: what was made while the answer was on its way is not in it.
  const settled = isSettled(provider, server);
  const { gone } = await provider.releaseMachine({ server_id, account_id, machine_id });
  return gone && settled;
}
