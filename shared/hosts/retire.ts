// Clears a machine before it is returned to its provider: unless it is destroyed, another account may get it next.
import type { ServerRecord } from "../records/schemas/server.ts";
import { log } from "../platform/log.ts";
import { isPassing } from "../platform/task-errors.ts";
import { undoUnlessDown } from "./index.ts";
import { withTimeout } from "../platform/with-timeout.ts";
import { MINUTE_MS } from "../domain/durations.ts";

/** Removing ERPs takes seconds; what takes longer than this will not end. */
const RETIRE_MINUTES = 5;
/** The time limit of one poll: half of a task's time. */
const LOOK_SECONDS = 150;

interface Retirement {
  id: string;
  ends?: readonly string[];
  /** The time when the work began that gives the machine back. */
  since: string | null | undefined;
}

/** Nobody should pay for a machine because it is down, sends nonsense, or could not be cleared: then it is returned as it is. */
export async function retireMachine(server: ServerRecord, { since, ...job }: Retirement): Promise<boolean> {
  if (server.machine_id === null || server.ip_address === null) return true;
  const late = Date.now() - Date.parse(since ?? server.updated_at) >= RETIRE_MINUTES * MINUTE_MS;
  try {
    const retired = await inTime(undoUnlessDown(server, { ...job, kind: "retire_host" }));
    if (!retired && late) throw new Error("Clearing the machine took too long");
    return retired;
  } catch (error) {
    if (isPassing(error) && !late) throw error; // the table or the secrets are unavailable, which means nothing for the machine
    log.warn("a machine is returned to its provider without being cleared", { server: server.id, error });
    return true;
  }
}

const inTime = <T>(look: Promise<T>): Promise<T> =>
  withTimeout(look, LOOK_SECONDS * 1000, new Error("The machine did not respond in time"));
