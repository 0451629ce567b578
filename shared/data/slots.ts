// An exact sliding limit in one write: an item holds the times of its last N counted requests, in any order, and a request
// passes by overwriting a time that is outside the window. The failed condition of a write that found its slot taken
// returns the item, which shows a free slot or proves that there is none.
import * as z from "zod";
import { type Key, keyString, type Item } from "./keys.ts";
import { NEVER, encodeStamp, decodeStamp } from "./stamps.ts";
import { find, putIfAbsent, type UpdateOutcome, updateRaw } from "./table.ts";

/** A limit: the attribute that holds its slots, and how many there are. */
export interface Limit<N extends string = string> {
  name: N;
  slots: number;
}

export type Verdict<N extends string> =
  | { kind: "admitted"; item: Item; slot: string | undefined }
  /** There is no such item, or it does not allow entry for another reason than its limits. */
  | { kind: "rejected"; item?: Item }
  | { kind: "limited"; item: Item; by: N; retryAfterMs: number };

interface Entry<N extends string> {
  key: Key;
  limits: readonly Limit<N>[];
  windowMs: number;
  now: number;
  /** What else must hold, as an expression and as the same rule in code for an item that a failed write returned. */
  condition: string;
  holds: (item: Item) => boolean;
  names?: Record<string, string>;
  values?: Item;
  /** Attributes to set along with it. */
  set?: Item;
  /** Attributes to remove along with it. */
  remove?: readonly string[];
  /** Optional slots: the request would like one, and passes without it if all are taken. */
  optionalSlot?: OptionalSlots | undefined;
}

/** Attributes, each with the time until which its slot is taken: its user releases it, and after a crash it expires. */
export interface OptionalSlots {
  slots: readonly string[];
  untilMs: number;
}

/** A limit of its own, on an item that goes when it is not used any more. */
interface SlotLimit {
  /** The attribute of the slots. */
  name?: string;
  slots: number;
  windowMs: number;
  at: number;
}

const NAME = "failures";
const Slots = z.record(z.string(), z.unknown());

/** Takes a slot of a bound; returns the milliseconds until one is free if there is none. */
export async function tryAcquireSlot(key: Key, { name = NAME, slots, windowMs, at }: SlotLimit): Promise<number | undefined> {
  const set = { ttl: Math.ceil((at + 2 * windowMs) / 1000) };
  const verdict = await acquireOrCreateSlots({ key, limits: [{ name, slots }], windowMs, now: at, set });
  return verdict.kind === "limited" ? verdict.retryAfterMs : undefined;
}

/**
 * Gives back the slot that was taken at a time. Of two requests of one millisecond, each gives one back: where one was faster,
 * the other looks again.
 */
export async function returnSlot(key: Key, at: number, name = NAME): Promise<void> {
  for (let done = false; !done;) {
    const slot = readTimes((await find({ key, schema: Slots })) ?? {}, name).indexOf(at);
    if (slot < 0) return;
    ({ done } = await updateRaw(key, {
      UpdateExpression: `SET #name[${slot}] = :free`,
      ConditionExpression: `#name[${slot}] = :at`,
      ExpressionAttributeNames: { "#name": name },
      ExpressionAttributeValues: { ":at": encodeStamp(at), ":free": NEVER },
    }));
  }
}

/** Takes slots of limits on an item that their first use creates. */
export async function acquireOrCreateSlots<const N extends string>(
  entry: Omit<Entry<N>, "condition" | "holds">,
): Promise<Verdict<N>> {
  const existing = { ...entry, condition: "attribute_exists(pk)", holds: () => true };
  const verdict = await tryAcquireSlots(existing);
  if (verdict.kind !== "rejected") return verdict;
  await putIfAbsent(entry.key, Object.fromEntries(entry.limits.map(({ name, slots }) => [name, freeSlots(slots)])));
  return tryAcquireSlots(existing);
}

/** Each failed try means that another request took the slot, so that some request always makes progress. */
const TRIES = 100;

export async function tryAcquireSlots<const N extends string>(entry: Entry<N>): Promise<Verdict<N>> {
  const { key, limits, windowMs, now, holds } = entry;
  let slots = limits.map((limit) => pickFromHint(keyString(key), limit, now, windowMs));
  let slot = entry.optionalSlot && pickSlot(keyString(key), entry.optionalSlot, now);
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const { done, item } = await updateRaw(key, buildExpression(entry, slots, slot));
    if (item === undefined) return { kind: "rejected" };
    remember(keyString(key), item, entry);
    if (done) return { kind: "admitted", item, slot: slot ?? (await acquireFreedSlot(entry, item)) };
    if (!holds(item)) return { kind: "rejected", item };
    const free = limits.map(({ name }) => freeAmong(readTimes(item, name), now, windowMs));
    const full = free.findIndex((indexes) => indexes.length === 0);
    const limit = limits[full];
    if (limit !== undefined)
      return {
        kind: "limited",
        item,
        by: limit.name,
        retryAfterMs: waitFor(Math.min(...readTimes(item, limit.name)), now, windowMs),
      };
    slots = free.map((indexes) => indexes[Math.floor(Math.random() * indexes.length)] ?? 0);
    slot = entry.optionalSlot && findFreeSlot(item, entry.optionalSlot, now);
  }
  throw new Error(`Found no free slot on ${key.pk} in ${TRIES} tries`);
}

/**
 * A request that began before those that took the slots and came to the database after them still waits for one window at most.
 */
const waitFor = (oldest: number, now: number, windowMs: number): number => Math.max(1, Math.min(oldest, now) + windowMs - now);

const findFreeSlot = (item: Item, { slots }: OptionalSlots, now: number): string | undefined =>
  slots.find((name) => timeIn(item[name]) <= now);

/** Based on what this container last saw; marked as taken for concurrent requests. */
function pickSlot(key: string, optionalSlot: OptionalSlots, now: number): string | undefined {
  const slots = hints.get(key)?.slots ?? {};
  const slot = findFreeSlot(slots, optionalSlot, now);
  if (slot !== undefined) slots[slot] = encodeStamp(optionalSlot.untilMs);
  return slot;
}

/**
 * This container believed that all slots were taken, but the item shows one that has been released: rare, and worth a call.
 * Another request may take it first, so there are as many tries as slots.
 */
async function acquireFreedSlot({ key, optionalSlot, now }: Entry<string>, item: Item): Promise<string | undefined> {
  if (optionalSlot === undefined) return undefined;
  let current: Item | undefined = item;
  for (let tries = 0; current !== undefined && tries < optionalSlot.slots.length; tries++) {
    const slot = findFreeSlot(current, optionalSlot, now);
    if (slot === undefined) return undefined;
    const outcome: UpdateOutcome = await updateRaw(key, {
      UpdateExpression: "SET #slot = :until",
      ConditionExpression: `attribute_exists(pk) AND ${IS_FREE}`,
      ExpressionAttributeNames: { "#slot": slot },
      ExpressionAttributeValues: { ":until": encodeStamp(optionalSlot.untilMs), ":now": encodeStamp(now) },
    });
    if (outcome.done) return slot;
    current = outcome.item;
  }
  return undefined;
}

const IS_FREE = "(attribute_not_exists(#slot) OR #slot <= :now)";

/** Frees a slot; one that has expired and was taken by another request stays taken. */
export async function releaseSlot(key: Key, slot: string, untilMs: number): Promise<void> {
  await updateRaw(key, {
    UpdateExpression: "REMOVE #slot",
    ConditionExpression: "#slot = :until",
    ExpressionAttributeNames: { "#slot": slot },
    ExpressionAttributeValues: { ":until": encodeStamp(untilMs) },
  });
}

export const readTimes = (item: Item, name: string): number[] => (Array.isArray(item[name]) ? item[name].map(timeIn) : []);

const timeIn = (stamp: unknown): number => (stamp instanceof Uint8Array ? decodeStamp(stamp) : 0);

/** The slots of a limit of which nobody has taken one yet. */
export const freeSlots = (count: number): Uint8Array[] => Array.from({ length: count }, () => NEVER);

const freeAmong = (times: readonly number[], now: number, windowMs: number): number[] =>
  times.flatMap((time, index) => (time <= now - windowMs ? [index] : []));

function buildExpression<N extends string>(
  { limits, windowMs, now, condition, names, values, set = {}, remove = [], optionalSlot }: Entry<N>,
  slots: readonly number[],
  slot: string | undefined,
) {
  const paths = limits.map((_, i) => `#limit${i}[${slots[i] ?? 0}]`);
  const sets = Object.keys(set);
  return {
    UpdateExpression: `SET ${[
      ...paths.map((path) => `${path} = :now`),
      ...sets.map((_, i) => `#set${i} = :set${i}`),
      ...(slot === undefined ? [] : ["#slot = :until"]),
    ].join(", ")}${remove.length === 0 ? "" : ` REMOVE ${remove.join(", ")}`}`,
    ConditionExpression: [condition, ...paths.map((path) => `${path} <= :edge`), ...(slot === undefined ? [] : [IS_FREE])].join(
      " AND ",
    ),
    ExpressionAttributeNames: {
      ...names,
      ...Object.fromEntries(limits.map(({ name }, i) => [`#limit${i}`, name])),
      ...Object.fromEntries(sets.map((name, i) => [`#set${i}`, name])),
      ...(slot !== undefined && { "#slot": slot }),
    },
    ExpressionAttributeValues: {
      ...values,
      ":now": encodeStamp(now),
      ":edge": encodeStamp(now - windowMs),
      ...(slot !== undefined && optionalSlot !== undefined && { ":until": encodeStamp(optionalSlot.untilMs) }),
      ...Object.fromEntries(sets.map((name, i) => [`:set${i}`, set[name]])),
    },
  };
}

/** The slots as this warm container last saw them: a good guess of a free one makes the second call rare. */
const hints = new Map<string, { times: Map<string, number[]>; slots: Item }>();
const HINTS_MAX = 1_000; // some 1.5 KB each

function remember(key: string, item: Item, { limits, optionalSlot }: Entry<string>): void {
  const hint = hints.get(key) ?? { times: new Map<string, number[]>(), slots: {} };
  for (const { name } of limits) hint.times.set(name, readTimes(item, name));
  for (const name of optionalSlot?.slots ?? []) hint.slots[name] = item[name];
  hints.delete(key);
  hints.set(key, hint);
  const [oldest] = hints.keys();
  if (hints.size > HINTS_MAX && oldest !== undefined) hints.delete(oldest);
}

/** The slot that has been free longest, marked as taken for concurrent requests; a random one when nothing is known. */
function pickFromHint(key: string, { name, slots }: Limit, now: number, windowMs: number): number {
  const times = hints.get(key)?.times.get(name);
  if (times === undefined || times.length === 0) return Math.floor(Math.random() * slots);
  const oldest = times.indexOf(Math.min(...times));
  if ((times[oldest] ?? now) <= now - windowMs) times[oldest] = now;
  return oldest;
}
