// Who reads an instance's logs: within limits, because each reading signs in to its server, and noted once an hour.
import * as z from "zod";
import { tooManyLogReads } from "../../api/errors.ts";
import { keys } from "../../data/keys.ts";
import { acquireOrCreateSlots, releaseSlot } from "../../data/slots.ts";
import { find, type Ref } from "../../data/table.ts";
import { HOUR_MS, HOUR_SECONDS } from "../../domain/durations.ts";
import { LOG_READS, WINDOW_SECONDS } from "../../domain/limits.ts";
import type { Caller } from "../../records/schemas/caller.ts";
import { ttlAfter } from "../../data/ttl.ts";

const WINDOW_MS = WINDOW_SECONDS * 1000;
const SLOTS = Array.from({ length: LOG_READS.atOnce }, (_, index) => `place_${index}`);
/** The time until a slot that nobody has released is free again: longer than a function runs. */
const SLOT_SECONDS = 30;

/**
 * Counts a reading of an instance's or an operation's log, and calls it while it has one of its slots. Throws
 * RATE_LIMIT_EXCEEDED if there is none.
 */
export async function withinLogLimits<T>(
  { account_id, id }: { account_id: string; id: string },
  read: () => Promise<T>,
): Promise<T> {
  const now = Date.now();
  const key = keys.logReads(account_id, id);
  const optionalSlot = { slots: SLOTS, untilMs: now + SLOT_SECONDS * 1000 };
  const verdict = await acquireOrCreateSlots({
    key,
    limits: [{ name: "reads", slots: LOG_READS.aMinute }],
    windowMs: WINDOW_MS,
    now,
    set: { ttl: ttlAfter(2 * WINDOW_SECONDS, now) },
    optionalSlot,
  });
  if (verdict.kind === "rejected") throw new Error(`The limits of ${id} are gone as soon as they are made`);
  if (verdict.kind === "limited") throw tooManyLogReads(LOG_READS.aMinute, Math.ceil(verdict.retryAfterMs / 1000));
  const { slot } = verdict;
  if (slot === undefined) throw tooManyLogReads(LOG_READS.atOnce, 1);
  try {
    return await read();
  } finally {
    await releaseSlot(key, slot, optionalSlot.untilMs);
  }
}

const READING_LOGGED_HOURS = 1;
const LastReading = z.object({ at: z.number() });

/** Returns where the time is stored at which a credential's reading of an instance's logs was last noted. */
export const lastReadingRef = ({ account_id, id }: Caller, instanceId: string): Ref<z.infer<typeof LastReading>> => ({
  key: keys.logReader(account_id, instanceId, id),
  schema: LastReading,
});

/** What notes it now; undefined if it was noted within the hour. */
export async function buildReadingUpdate(ref: ReturnType<typeof lastReadingRef>) {
  const now = Date.now();
  const noted = await find(ref);
  if (noted !== undefined && noted.at > now - READING_LOGGED_HOURS * HOUR_MS) return undefined;
  return {
    set: { at: now, ttl: ttlAfter(2 * READING_LOGGED_HOURS * HOUR_SECONDS, now) },
    where: { exists: false, same: { at: noted?.at } },
  } as const;
}
