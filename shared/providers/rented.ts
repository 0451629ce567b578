// Guarantees for machines of every provider: none is created twice, and none is left behind.
import type { ServerRecord } from "../records/schemas/server.ts";
import { GiveUp } from "../platform/task-errors.ts";
import { RetryLater } from "./http.ts";
import { loadProvider } from "./index.ts";
import type { Provider } from "./provider.ts";

/** Whether the provider would list every earlier order by now, so that an unlisted machine does not exist. */
export const isSettled = ({ settleSeconds }: Provider, { requested_at }: Pick<ServerRecord, "requested_at">): boolean =>
  requested_at === null || Date.now() - Date.parse(requested_at) >= settleSeconds * 1000;

/** Whether a request with this outcome has certainly created no machine. */
export const createdNothing = (error: unknown): boolean => error instanceof GiveUp || error instanceof RetryLater;

/** Deletes all machines of a server; true once there are none, and none can appear any more. */
export async function release(server: ServerRecord): Promise<boolean> {
  const { id: server_id, account_id, machine_id } = server;
  // Nothing was ordered. A provider that rejects our credentials would reject this call too.
  if (machine_id === null && server.requested_at === null) return true;
  const provider = await loadProvider(server);
  // The time before the call: the list may miss what was created while the response was on its way.
  const settled = isSettled(provider, server);
  const { isGone } = await provider.releaseMachine({ server_id, account_id, machine_id });
  return isGone && settled;
}
