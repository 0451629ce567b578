// Requests that wait for something: how long they may, and the slot that they have meanwhile.
import { ApiError } from "../api/errors.ts";
import { endWait } from "../operations/credentials/admission.ts";
import { log } from "../platform/log.ts";
import type { Caller } from "../records/schemas/caller.ts";

/** Lets a request wait for so many seconds, none if it has no slot, and gives its slot back. */
export async function withWaitSlot<T>(caller: Caller, seconds: number, work: (seconds: number) => Promise<T>): Promise<T> {
  const result = await work(caller.wait === undefined ? 0 : seconds).catch(async (error: unknown) => {
    // If the table is down, the slot is left to expire: a write that fails slowly would outlast the function.
    if (error instanceof ApiError) await releaseWait(caller);
    throw error;
  });
  await releaseWait(caller);
  return result;
}

/** The response matters more than the slot, which expires on its own. */
const releaseWait = (caller: Caller): Promise<void> =>
  endWait(caller).catch((error: unknown) => {
    log.warn("could not release the slot of a waiting request", { error: error instanceof Error ? error : undefined });
  });
