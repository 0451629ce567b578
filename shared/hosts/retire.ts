// Clears a machine before it is given back: one that is not destroyed then may be another account's next.
import type { ServerRecord } from "../data/records.ts";
import { log } from "../runtime/log.ts";
import { GiveUp } from "../runtime/task-errors.ts";
import { undoneOrDown } from "./index.ts";

/** Nobody shall have to pay for a machine because it is down, or could not be cleared: then it is given back as it is. */
export async function retire(server: ServerRecord, job: { id: string; ends?: readonly string[] }): Promise<boolean> {
  if (server.machine_id === null || server.ip_address === null) return true;
  try {
    return await undoneOrDown(server, { ...job, kind: "retire_host" });
  } catch (error) {
    if (!(error instanceof GiveUp)) throw error;
    log.warn("a machine is given back as it is", { server: server.id, error });
    return true;
  }
}
