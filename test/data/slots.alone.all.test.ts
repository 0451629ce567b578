// The sliding limit behind the request limits, in two containers at once, against a list of what has passed.
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import fc from "fast-check";
import { beforeAll, describe, expect, test, vi } from "vitest";
import type { Key } from "../../shared/data/keys.ts";
import { everySlotFree, EVERY_LIMIT, LIMITS, WINDOW_MS as REQUEST_WINDOW_MS } from "../../shared/records/rate-limits.ts";
import * as here from "../../shared/data/slots.ts";
import { NEVER, encodeStamp } from "../../shared/data/stamps.ts";
import { putIfAbsent, readAll, updateRaw } from "../../shared/data/table.ts";
import { apiUrl } from "../harness/cloud.ts";
import { unique } from "../harness/unique.ts";

/** A second container: the same code with a memory of its own. */
let there: typeof here;
beforeAll(async () => {
  apiUrl(); // chooses the table
  vi.resetModules();
  there = await import("../../shared/data/slots.ts");
});

const ascending = (a: number, b: number): number => a - b;

type Entry = Parameters<typeof here.tryAcquireSlots>[0];
type Container = Pick<typeof here, "tryAcquireSlots" | "releaseSlot">;

const WINDOW_MS = 1_000;
const FEW = { name: "few", slots: 3 };
const MANY = { name: "many", slots: 5 };
const BOTH = [FEW, MANY];
const AT = Date.UTC(2026, 10, 20);

/** A credential of which nothing has been used. */
async function newItem(more: Record<string, unknown> = {}): Promise<Key> {
  const key = { pk: unique("LIMITED"), sk: "ACCESS" };
  await putIfAbsent(key, { few: here.freeSlots(FEW.slots), many: here.freeSlots(MANY.slots), ...more });
  return key;
}

const itemAt = async (key: Key): Promise<Record<string, unknown>> => {
  for (const item of (await readAll([key])).values()) return item;
  throw new Error(`There is no ${key.pk}`);
};
const timesAt = async (key: Key, name: string): Promise<number[]> => here.readTimes(await itemAt(key), name);

const ask = (key: Key, now: number, more: Partial<Entry> = {}, container: Container = here) =>
  container.tryAcquireSlots({
    key,
    limits: BOTH,
    windowMs: WINDOW_MS,
    now,
    condition: "attribute_exists(pk)",
    holds: () => true,
    ...more,
  });

/** How many calls to the table some work takes. */
async function callsOf(work: () => Promise<unknown>): Promise<number> {
  const calls = vi.spyOn(DynamoDBDocumentClient.prototype, "send");
  try {
    await work();
    return calls.mock.calls.length;
  } finally {
    calls.mockRestore();
  }
}

/** Another program, of which no container knows, takes a slot. */
const tryAcquireSlot = (key: Key, name: string, index: number, at: number) =>
  updateRaw(key, {
    UpdateExpression: `SET #name[${index}] = :at`,
    ExpressionAttributeNames: { "#name": name },
    ExpressionAttributeValues: { ":at": encodeStamp(at) },
  });

describe("the window", () => {
  const step = fc.record({
    // Mostly to the edges of the window.
    afterMs: fc.oneof(
      fc.constantFrom(0, 0, 1, WINDOW_MS - 1, WINDOW_MS, WINDOW_MS + 1),
      fc.integer({ min: 0, max: WINDOW_MS / 2 }),
      fc.constant("edge" as const),
      fc.constant("before the edge" as const),
    ),
    /** Whether the request counts against both limits, or only against the wider one. */
    both: fc.boolean(),
    container: fc.boolean(),
  });

  test("has exactly as many requests as each limit allows, whenever they come and to whichever container", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const key = await newItem();
        const admittedTimes: Record<string, number[]> = { few: [], many: [] };
        let now = AT;
        const within = (name: string) => (admittedTimes[name] ?? []).filter((at) => at > now - WINDOW_MS);
        for (const { afterMs, both, container } of steps) {
          const edge = Math.max(now, Math.min(...within("many"), now) + WINDOW_MS);
          now = afterMs === "edge" ? edge : afterMs === "before the edge" ? Math.max(now, edge - 1) : now + afterMs;
          const limits = both ? BOTH : [MANY];
          const verdict = await ask(key, now, { limits }, container ? here : there);
          const full = limits.find(({ name, slots }) => within(name).length >= slots);
          if (full === undefined) {
            expect(verdict).toMatchObject({ kind: "admitted", slot: undefined });
            for (const { name } of limits) admittedTimes[name]?.push(now);
          } else {
            const retryAfterMs = Math.min(...within(full.name)) + WINDOW_MS - now;
            expect(verdict).toMatchObject({ kind: "limited", by: full.name, retryAfterMs });
          }
          // The item that the verdict shows has every request of the window.
          for (const { name } of BOTH)
            if (verdict.kind !== "rejected")
              expect(
                here
                  .readTimes(verdict.item, name)
                  .filter((at) => at > now - WINDOW_MS)
                  .toSorted(ascending),
              ).toEqual(within(name));
        }
        expect((await timesAt(key, "many")).filter((at) => at > now - WINDOW_MS).toSorted(ascending)).toEqual(within("many"));
      }),
      { numRuns: 12, seed: 12 },
    );
  });

  test("admits exactly as many of a burst, in two containers at the same time", async () => {
    const key = await newItem();
    for (const now of [AT, AT + WINDOW_MS, AT + 2 * WINDOW_MS]) {
      const verdicts = await Promise.all(
        Array.from({ length: 24 }, (_, i) => ask(key, now, { limits: [MANY] }, i % 2 === 0 ? here : there)),
      );
      expect(verdicts.filter(({ kind }) => kind === "admitted")).toHaveLength(MANY.slots);
      expect(verdicts.filter(({ kind }) => kind === "limited")).toHaveLength(24 - MANY.slots);
      expect(await timesAt(key, "many")).toEqual(Array.from({ length: MANY.slots }, () => now));
    }
  });

  test("a request that one limit rejects counts against none", async () => {
    const key = await newItem();
    for (let i = 0; i < FEW.slots; i++) await ask(key, AT + i);
    expect(await ask(key, AT + 10)).toMatchObject({ kind: "limited", by: "few", retryAfterMs: WINDOW_MS - 10 });
    expect((await timesAt(key, "many")).filter((at) => at > 0)).toHaveLength(FEW.slots);
  });
});

describe("what else must hold", () => {
  test("nothing enters where there is no item, and none is made", async () => {
    const key = { pk: unique("LIMITED"), sk: "ACCESS" };
    expect(await ask(key, AT)).toEqual({ kind: "rejected" });
    expect((await readAll([key])).size).toBe(0);
  });

  const secret = (value: string): Partial<Entry> => ({
    condition: "#secret = :secret",
    names: { "#secret": "secret" },
    values: { ":secret": value },
    holds: (item) => item["secret"] === value,
  });

  test("an entry whose condition fails is rejected, and leaves no trace", async () => {
    const key = await newItem({ secret: "right" });
    const before = await itemAt(key);
    expect(await ask(key, AT, { ...secret("wrong"), set: { seen: 1 } })).toMatchObject({ kind: "rejected" });
    expect(await itemAt(key)).toEqual(before);
    expect((await ask(key, AT, secret("right"))).kind).toBe("admitted");
  });

  test("it is rejected, not limited, if all slots are taken as well", async () => {
    const key = await newItem({ secret: "right" });
    for (let i = 0; i < FEW.slots; i++) await ask(key, AT, secret("right"));
    expect(await ask(key, AT, secret("wrong"))).toMatchObject({ kind: "rejected" });
    expect((await ask(key, AT, secret("right"))).kind).toBe("limited");
  });

  test("attributes are set with an entry that is admitted, and with no other", async () => {
    const key = await newItem();
    for (let i = 0; i < FEW.slots; i++) await ask(key, AT, { set: { seen: i, from: `address ${i}` } });
    expect(await itemAt(key)).toMatchObject({ seen: 2, from: "address 2" });
    expect((await ask(key, AT, { set: { seen: 99, from: "nowhere" } })).kind).toBe("limited");
    expect(await itemAt(key)).toMatchObject({ seen: 2, from: "address 2" });
  });

  test("an entry that never succeeds, though a slot is free, fails in the end", async () => {
    const key = await newItem();
    const calls = await callsOf(() =>
      expect(ask(key, AT, { condition: "attribute_not_exists(pk)" })).rejects.toThrow(/in 100 tries/),
    );
    expect(calls).toBe(100);
  });
});

describe("an optional slot", () => {
  const OPTIONAL_SLOTS = ["place_0", "place_1", "place_2"];
  const requestUntil = (untilMs: number, slots = OPTIONAL_SLOTS): Partial<Entry> => ({
    limits: [MANY],
    optionalSlot: { slots, untilMs },
  });
  const slotIn = async (verdict: ReturnType<typeof here.tryAcquireSlots>) => {
    const { kind, ...rest } = await verdict;
    expect(kind).toBe("admitted");
    return "slot" in rest ? rest.slot : undefined;
  };

  test("takes slots one after another, and is admitted without one when all are taken", async () => {
    const key = await newItem();
    for (const [i, slot] of [...OPTIONAL_SLOTS, undefined].entries())
      expect(await slotIn(ask(key, AT + i, requestUntil(AT + 9_000 + i)))).toBe(slot);
    const item = await itemAt(key);
    for (const [i, slot] of OPTIONAL_SLOTS.entries()) expect(item[slot]).toEqual(new Uint8Array(encodeStamp(AT + 9_000 + i)));
    // A request that does not ask for a slot takes none.
    expect(await slotIn(ask(key, AT + 9_500, { limits: [MANY] }))).toBeUndefined();
  });

  test("a slot can be taken again from the moment until which it was taken", async () => {
    const key = await newItem();
    const one = ["place_0"];
    expect(await slotIn(ask(key, AT, requestUntil(AT + 100, one)))).toBe("place_0");
    for (const container of [here, there]) {
      expect(await slotIn(ask(key, AT + 99, requestUntil(AT + 999, one), container))).toBeUndefined();
    }
    expect(await slotIn(ask(key, AT + 100, requestUntil(AT + 200, one), there))).toBe("place_0");
    expect(await slotIn(ask(key, AT + 200, requestUntil(AT + 300, one), here))).toBe("place_0");
  });

  test("a slot that was released is taken by the next request, in the container that released it and in another", async () => {
    for (const container of [here, there]) {
      const key = await newItem();
      for (const [i] of OPTIONAL_SLOTS.entries()) await ask(key, AT, requestUntil(AT + 9_000 + i));
      // The other container knows that all slots are taken.
      expect(await slotIn(ask(key, AT, requestUntil(AT + 9_500), there))).toBeUndefined();
      await container.releaseSlot(key, "place_1", AT + 9_001);
      expect(await itemAt(key)).not.toHaveProperty("place_1");
      expect(await slotIn(ask(key, AT, requestUntil(AT + 9_999), there))).toBe("place_1");
      expect((await itemAt(key))["place_1"]).toEqual(new Uint8Array(encodeStamp(AT + 9_999)));
    }
  });

  test("a slot that lapsed and was taken by another is not released", async () => {
    const key = await newItem();
    const one = ["place_0"];
    await ask(key, AT, requestUntil(AT + 100, one));
    await ask(key, AT + 100, requestUntil(AT + 500, one));
    await here.releaseSlot(key, "place_0", AT + 100);
    expect((await itemAt(key))["place_0"]).toEqual(new Uint8Array(encodeStamp(AT + 500)));
  });

  test("requests that race for released slots in two containers get each slot once", async () => {
    const key = await newItem({ many: here.freeSlots(40) });
    const limits = [{ name: "many", slots: 40 }];
    for (let round = 0; round < 6; round++) {
      const now = AT + 10_000 * round;
      const verdicts = await Promise.all(
        Array.from({ length: 8 }, (_, i) => ask(key, now, { ...requestUntil(now + 5_000), limits }, i % 2 === 0 ? here : there)),
      );
      const slots = verdicts.flatMap((verdict) => (verdict.kind === "admitted" ? (verdict.slot ?? []) : []));
      expect(slots.toSorted()).toEqual(OPTIONAL_SLOTS);
      for (const slot of slots) await (round % 2 === 0 ? here : there).releaseSlot(key, slot, now + 5_000);
    }
  });

  test("slots that another program released are shared by two containers that believed all were taken", async () => {
    for (const released of [["place_0"], ["place_0", "place_2"]]) {
      const key = await newItem();
      for (const [i] of OPTIONAL_SLOTS.entries()) await ask(key, AT, requestUntil(AT + 9_000 + i));
      expect(await slotIn(ask(key, AT, requestUntil(AT + 9_500), there))).toBeUndefined();
      await updateRaw(key, {
        UpdateExpression: `REMOVE ${released.join(", ")}`,
        ConditionExpression: "attribute_exists(pk)",
        ExpressionAttributeNames: {},
        ExpressionAttributeValues: {},
      });
      await tryAcquireSlot(key, "many", 0, 0);
      await tryAcquireSlot(key, "many", 1, 0);
      const slots = await Promise.all([here, there].map((each) => slotIn(ask(key, AT, requestUntil(AT + 9_900), each))));
      expect(slots.filter((slot) => slot !== undefined).toSorted()).toEqual(released);
    }
  });

  test("a request that is limited takes no slot", async () => {
    const key = await newItem();
    for (let i = 0; i < MANY.slots; i++) await ask(key, AT, { limits: [MANY] });
    expect((await ask(key, AT, requestUntil(AT + 9_000))).kind).toBe("limited");
    expect((await ask(key, AT, requestUntil(AT + 9_000), there)).kind).toBe("limited");
    for (const slot of OPTIONAL_SLOTS) expect(await itemAt(key)).not.toHaveProperty(slot);
  });
});

describe("calls to the table", () => {
  test("a request takes one, again and again, and so does a rejection", async () => {
    const key = await newItem();
    for (let i = 0; i < 2 * MANY.slots; i++) expect(await callsOf(() => ask(key, AT + i, { limits: [MANY] }))).toBe(1);
    for (let i = 0; i < MANY.slots; i++) expect(await callsOf(() => ask(key, AT + WINDOW_MS + i, { limits: [MANY] }))).toBe(1);
  });

  test("so does each of a burst, in a container that knows the item", async () => {
    const key = await newItem();
    const optionalSlot = { slots: ["place_0", "place_1"], untilMs: AT + 10 * WINDOW_MS };
    await ask(key, AT, { limits: [MANY], optionalSlot: { ...optionalSlot, untilMs: AT + 1 } });
    const burst = () => Promise.all(Array.from({ length: MANY.slots }, () => ask(key, AT + WINDOW_MS, { limits: [MANY] })));
    expect(await callsOf(burst)).toBe(MANY.slots);
    const two = () => Promise.all([1, 2].map(() => ask(key, AT + 2 * WINDOW_MS, { limits: [MANY], optionalSlot })));
    expect(await callsOf(two)).toBe(2);
  });

  test("a container that knows nothing of an item takes any slot, so that two containers rarely take the same", async () => {
    const takenSlots = new Set<number>();
    for (let i = 0; i < 40; i++) {
      const key = await newItem();
      await ask(key, AT, { limits: [MANY] });
      takenSlots.add((await timesAt(key, "many")).indexOf(AT));
    }
    expect([...takenSlots].toSorted(ascending)).toEqual([0, 1, 2, 3, 4]);
  });

  test("and any free slot, after another has taken the one that it chose", async () => {
    const takenSlots = new Set<number>();
    for (let i = 0; i < 40; i++) {
      const key = await newItem();
      await ask(key, AT, { limits: [MANY] });
      // It takes the first that nobody has used: 0, or 1 if it used that itself.
      const oldest = (await timesAt(key, "many")).indexOf(0);
      await tryAcquireSlot(key, "many", oldest, AT + 1);
      expect(await callsOf(() => ask(key, AT + 2, { limits: [MANY] }))).toBe(2);
      takenSlots.add((await timesAt(key, "many")).indexOf(AT + 2));
    }
    expect([...takenSlots].toSorted(ascending)).toEqual([1, 2, 3, 4]);
  });
});

test("times that are not stamps count as never", () => {
  expect(here.readTimes({ few: [encodeStamp(AT), NEVER, "text"] }, "few")).toEqual([AT, 0, 0]);
  expect(here.readTimes({ few: "text" }, "few")).toEqual([]);
  expect(here.readTimes({}, "few")).toEqual([]);
});

test("a credential has 100 requests a minute, of which 20 create or delete, and begins with all slots free", () => {
  expect(REQUEST_WINDOW_MS).toBe(60_000);
  expect(LIMITS.all).toEqual([{ name: "all", slots: 100 }]);
  expect(LIMITS.create_delete).toEqual([{ name: "create_delete", slots: 20 }, ...LIMITS.all]);
  expect(EVERY_LIMIT).toEqual(LIMITS.create_delete);
  const free = everySlotFree();
  expect(here.readTimes(free, "all")).toEqual(Array.from({ length: 100 }, () => 0));
  expect(here.readTimes(free, "create_delete")).toEqual(Array.from({ length: 20 }, () => 0));
});
