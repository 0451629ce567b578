// Lists of any length against the simplest list there is, a sorted array: pages, cursors, filters and times, with what they cost.
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import fc from "fast-check";
import { beforeAll, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { ApiError } from "../../shared/api/errors.ts";
import { listQuery } from "../../shared/api/fields.ts";
import { startChange } from "../../shared/data/change.ts";
import type { ListKind } from "../../shared/data/keys.ts";
import { listEvents, listPage } from "../../shared/data/lists.ts";
import { formatNumber } from "../../shared/data/numbers.ts";
import type { PageQuery } from "../../shared/data/pages.ts";
import { newId } from "../../shared/domain/ids.ts";
import { apiUrl } from "../harness/cloud.ts";

interface Row {
  id: string;
  number: string;
  created_at: string;
  status: string;
  protection?: string;
  actor: { id: string };
  resource: { type: string; id: string };
}

const schema = z.looseObject({ id: z.string(), number: z.string() });
const buildQuery = (query: Partial<PageQuery> = {}): PageQuery => ({ ...listQuery({}).parse({}), ...query });

/** The number of rows that are written in one transaction. */
const AT_ONCE = 25;

async function write(kind: ListKind, accountId: string, rows: readonly Row[], more: Record<string, unknown> = {}): Promise<void> {
  for (let i = 0; i < rows.length; i += AT_ONCE) {
    const change = startChange({ id: accountId });
    for (const row of rows.slice(i, i + AT_ONCE)) {
      const { status, protection, actor, resource } = row;
      const filter = kind === "event" ? { actorId: actor.id, parentId: resource.id } : { protection };
      change.add(kind, { created_by: actor, ...row, ...more, type: status }, { status, ...filter });
    }
    await change.commit();
  }
}

const START = Date.UTC(2026, 10, 1);
/** Half a second apart, so that the times of neighbors are not always in the order of their numbers. */
const timeOf = (serial: number): number => START + serial * 500 + ((serial * 7_919) % 2_000) - 1_000;

const row = (serial: number, fields: Partial<Row> = {}): Row => ({
  id: newId("operation"),
  number: "",
  created_at: new Date(timeOf(serial)).toISOString(),
  status: serial % 50 === 1 ? "rare" : serial % 3 === 0 ? "third" : "other",
  protection: serial % 4 === 0 ? "fourth" : "rest",
  actor: { id: `actor_${serial % 5}` },
  resource: { type: "server", id: `resource_${serial % 2}` },
  ...fields,
});
const numbered = (serial: number, each: Row): Row => ({ ...each, number: formatNumber(serial, each.id) });

const ACCOUNT = newId("account");
const EMPTY = newId("account");
let rows: Row[];

/**
 * Some 600 records in two items of counts: with gaps, blocks without a beginning, one that was emptied, and numbers that two
 * have.
 */
beforeAll(async () => {
  apiUrl(); // chooses the table
  const serials = [
    ...Array.from({ length: 330 }, (_, i) => i),
    ...Array.from({ length: 280 }, (_, i) => 1_010 + i),
    1_055,
    1_055,
  ];
  const written = serials.filter((n) => n % 13 !== 0).map((n) => numbered(n, row(n)));
  await write("operation", ACCOUNT, written);
  const isEmptied = ({ number }: Row): boolean => Math.floor(Number(number.split("#")[0]) / 32) === 4;
  const change = startChange({ id: ACCOUNT });
  for (const each of written.filter(isEmptied)) {
    const { protection = "" } = each;
    change.removeListed(
      { kind: "operation", record: { ...each, protection_status: protection, actor: undefined }, status: each.status },
      {},
    );
  }
  await change.commit();
  rows = written.filter((each) => !isEmptied(each));
});

interface Filter {
  status?: string;
  protection?: string;
}

const inOrder = (all: readonly Row[], order: PageQuery["order"]): string[] => {
  const ascending = all.toSorted((a, b) => (a.number < b.number ? -1 : 1)).map(({ id }) => id);
  return order === "asc" ? ascending : ascending.toReversed();
};

const isWithin =
  ({ created_after, created_before }: Partial<PageQuery>) =>
  ({ created_at }: Row): boolean =>
    (created_after === undefined || created_at >= created_after) && (created_before === undefined || created_at < created_before);

const expected = ({ status, protection }: Filter, query: PageQuery): string[] =>
  inOrder(
    rows
      .filter(isWithin(query))
      .filter((each) => each.status === (status ?? each.status) && each.protection === (protection ?? each.protection)),
    query.order,
  );

const page = (filter: Filter, query: PageQuery, accountId = ACCOUNT) =>
  listPage({ kind: "operation", accountId, schema, ...filter }, query);

/** The calls that some work makes, and the items that they return. */
async function readBy(work: () => Promise<unknown>): Promise<number[]> {
  const calls = vi.spyOn(DynamoDBDocumentClient.prototype, "send");
  try {
    await work();
    const results = await Promise.all(
      calls.mock.results.map(async ({ value }) => z.looseObject({ Items: z.array(z.unknown()) }).parse(await value)),
    );
    return results.map(({ Items }) => Items.length);
  } finally {
    calls.mockRestore();
  }
}

const filters = fc.constantFrom<Filter>(
  {},
  {},
  { status: "third" },
  { status: "other" },
  { status: "rare" },
  { protection: "fourth" },
  { status: "none" },
);
const orders = fc.constantFrom("asc" as const, "desc" as const);
const sizes = fc.constantFrom(1, 7, 31, 32, 33, 100);
/** Those of records, and around them; mostly where blocks begin and end. */
const times = fc
  .tuple(
    fc.oneof(
      fc.integer({ min: -10, max: 1_300 }),
      fc.constantFrom(0, 32, 64, 160, 288, 1_024, 1_056, 1_088, 1_280).map((n) => n),
    ),
    fc.constantFrom(0, 0, 1, -1, 2_500, -2_500, 2_499, 1_000),
  )
  .map(([serial, ms]) => new Date(timeOf(serial) + ms).toISOString());
const ranges = fc.record({ created_after: times, created_before: times }, { requiredKeys: [] });

describe("a list", () => {
  test("takes two calls for a page, and reads no more than it and a block", async () => {
    for (const order of ["asc", "desc"] as const)
      for (const number of [1, 2, 20, 55]) {
        const [counts, read = 0, ...more] = await readBy(() => page({}, buildQuery({ order, per_page: 10, page: number })));
        expect(counts).toBe(2);
        expect(more).toEqual([]);
        expect(read).toBeLessThanOrEqual(10 + 1 + 32);
      }
    const { meta } = await page({}, buildQuery({ per_page: 10, page: 5 }));
    const cursor = meta.next_cursor ?? "";
    expect(await readBy(() => page({}, buildQuery({ per_page: 10, cursor })))).toEqual([2, 10 + 1 + 1]);
  });

  test("takes one call past its end, and none more for what is empty", async () => {
    expect(await readBy(() => page({}, buildQuery({ per_page: 100, page: 9 })))).toEqual([2]);
    expect(await readBy(() => page({}, buildQuery(), EMPTY))).toEqual([0]);
    expect((await page({}, buildQuery(), EMPTY)).meta).toEqual({ page: 1, per_page: 20, total: 0, next_cursor: null });
    expect(await readBy(() => page({}, buildQuery({ created_after: new Date(START).toISOString() }), EMPTY))).toEqual([0]);
  });

  test("whose records are large is read in as many calls as it takes", async () => {
    const accountId = newId("account");
    const large = Array.from({ length: 30 }, (_, i) => numbered(i, row(i)));
    await write("operation", accountId, large, { filler: "x".repeat(60_000) });
    const query = buildQuery({ per_page: 25 });
    expect((await page({}, query, accountId)).items.map(({ id }) => id)).toEqual(inOrder(large, "desc").slice(0, 25));
    const ranged = await page({}, buildQuery({ per_page: 100, created_after: new Date(0).toISOString() }), accountId);
    expect(ranged.items.map(({ id }) => id)).toEqual(inOrder(large, "desc"));
  });

  test("has on every page what a sorted array has there, with the exact total", async () => {
    await fc.assert(
      fc.asyncProperty(filters, orders, sizes, ranges, fc.nat(), async (filter, order, per_page, range, any) => {
        const allIds = expected(filter, buildQuery({ order, ...range }));
        const query = buildQuery({ order, per_page, ...range, page: 1 + (any % (Math.ceil(allIds.length / per_page) + 1)) });
        const { items, meta } = await page(filter, query);
        const first = ((query.page ?? 1) - 1) * per_page;
        expect(items.map(({ id }) => id)).toEqual(allIds.slice(first, first + per_page));
        const next_cursor = first + per_page < allIds.length ? expect.any(String) : null;
        expect(meta).toEqual({ page: query.page, per_page, total: allIds.length, next_cursor });
      }),
      { numRuns: 80, seed: 12 },
    );
  });

  test("is walked by cursors in full pages, in either order, within any times", async () => {
    await fc.assert(
      fc.asyncProperty(filters, orders, fc.constantFrom(31, 64, 100), ranges, async (filter, order, per_page, range) => {
        const allIds = expected(filter, buildQuery({ order, ...range }));
        const walkedIds: string[] = [];
        let cursor: string | null | undefined;
        do {
          const query = buildQuery({ order, per_page, ...range, ...(typeof cursor === "string" && { cursor }) });
          const { items, meta } = await page(filter, query);
          expect(meta).toMatchObject({ page: 1, per_page, total: allIds.length });
          walkedIds.push(...items.map(({ id }) => id));
          if (meta.next_cursor !== null) expect(items).toHaveLength(per_page);
          cursor = meta.next_cursor;
        } while (cursor !== null && walkedIds.length <= rows.length);
        expect(walkedIds).toEqual(allIds);
      }),
      { numRuns: 20, seed: 13 },
    );
  });

  test("rejects the cursor of another filter, order or time", async () => {
    const after = { created_after: new Date(START).toISOString() };
    const lists: [Filter, Partial<PageQuery>][] = [
      [{}, {}],
      [{ status: "third" }, {}],
      [{ protection: "third" }, {}],
      [{ protection: "fourth" }, {}],
      [{}, { order: "asc" }],
      [{}, after],
      [{}, { created_before: new Date(timeOf(2_000)).toISOString() }],
    ];
    for (const [i, [filter, query]] of lists.entries()) {
      const { meta } = await page(filter, buildQuery({ ...query, per_page: 1 }));
      for (const [j, [other, otherQuery]] of lists.entries()) {
        if (meta.next_cursor === null) continue;
        const used = page(other, buildQuery({ ...otherQuery, cursor: meta.next_cursor }));
        if (i === j) expect((await used).items.length).toBeGreaterThan(0);
        else await expect(used, `${i} in ${j}`).rejects.toThrow(ApiError);
      }
    }
  });
});

describe("a list of full blocks, with a record every second", () => {
  const accountId = newId("account");
  const at = (second: number): string => new Date(START + second * 1_000).toISOString();
  /** Twelve blocks: the sixth has all records of one status, and the fourth only eight of a protection status. */
  const all = Array.from({ length: 12 * 32 }, (_, i) => {
    const block = Math.floor(i / 32);
    const status = block === 5 ? "sixth" : "rest";
    const protection = block === 3 && i % 32 >= 8 ? "none" : "most";
    return numbered(i, row(i, { created_at: at(i), status, protection }));
  });
  beforeAll(() => write("operation", accountId, all));

  const reads = (query: Partial<PageQuery>, filter: Filter = {}): Promise<number[]> =>
    readBy(() => page(filter, buildQuery({ per_page: 5, ...query }), accountId));

  /** Both ends are as close to the first record of a block as clocks may differ. */
  const long = { created_after: at(64 + 2.5), created_before: at(320 - 2.5) };

  test("reads the records of a page, one more, and those before it in its block", async () => {
    for (const order of ["asc", "desc"] as const) {
      expect(await reads({ order, per_page: 10 })).toEqual([1, 11]);
      expect(await reads({ order, per_page: 10, page: 5 })).toEqual([1, 8 + 11]);
      expect(await reads({ order, per_page: 32, page: 2 })).toEqual([1, 33]);
      expect(await reads({ order, per_page: 32, page: 12 })).toEqual([1, 32]);
      expect(await reads({ order, per_page: 32, page: 13 })).toEqual([1]);
    }
  });

  test("of a long time reads one block at each end, and only the page of what is between", async () => {
    expect(await reads(long)).toEqual([2, 32, 32]);
    expect(await reads({ ...long, page: 10 })).toEqual([2, 32, 32, 15 + 6]);
    expect(await reads({ created_after: long.created_after })).toEqual([2, 32, 6]);
    expect(await reads({ created_before: long.created_before, order: "asc" })).toEqual([2, 32, 6]);
    expect(await reads({ created_after: at(-60) })).toEqual([2, 6]);
  });

  test("of a time with at most 200 records reads them in one call, also if some blocks have none", async () => {
    // Besides both counts of all, those of two statuses and two protection statuses.
    expect(await reads({ ...long, created_before: at(288 - 2.5) }, { protection: "most" })).toEqual([6, 200]);
    expect(await reads({ created_after: at(355) }, { status: "rest" })).toEqual([6, 32]);
    expect(await reads({ created_after: at(40), created_before: at(60) })).toEqual([2, 32]);
  });

  test("has each record of a long time once, by pages and by cursors", async () => {
    for (const order of ["asc", "desc"] as const) {
      const allIds = inOrder(all.filter(isWithin(long)), order);
      let cursor: string | null = null;
      for (let first = 0, number = 1; first < allIds.length; first += 20, number++) {
        const query = buildQuery({ ...long, order, per_page: 20 });
        const byPage = await page({}, { ...query, page: number }, accountId);
        const byCursor = await page({}, cursor === null ? query : { ...query, cursor }, accountId);
        for (const { items } of [byPage, byCursor]) expect(items.map(({ id }) => id)).toEqual(allIds.slice(first, first + 20));
        expect(byPage.meta).toMatchObject({ page: number, total: allIds.length, next_cursor: byCursor.meta.next_cursor });
        cursor = byCursor.meta.next_cursor;
      }
      expect(cursor).toBe(null);
    }
  });
});

describe("events", () => {
  const accountId = newId("account");
  let events: Row[];
  beforeAll(async () => {
    events = Array.from({ length: 60 }, (_, n) =>
      numbered(n, row(n, { status: n % 3 === 0 ? "third" : n % 7 === 0 ? "seventh" : "other" })),
    );
    await write("event", accountId, events);
  });
  const Event = z.looseObject({ id: z.string(), type: z.string(), actor: z.object({ id: z.string() }) });
  const list = (query: Partial<Parameters<typeof listEvents>[1]>) =>
    listEvents({ kind: "event", accountId, schema: Event }, { ...buildQuery(), ...query });

  const optional = <T>(...values: [T, ...T[]]) => fc.option(fc.constantFrom(...values), { nil: undefined });

  test("of a type by an actor are read from the shorter of their lists", async () => {
    const count = (of: (each: Row) => boolean) => events.filter(of).length;
    const thirds = count(({ status }) => status === "third");
    const sevenths = count(({ status }) => status === "seventh");
    const actors = count(({ actor }) => actor.id === "actor_1");
    expect(sevenths).toBeLessThan(actors);
    expect(actors).toBeLessThan(thirds);
    expect(await readBy(() => list({ type: "third", actor: "actor_1" }))).toEqual([1, 1, actors]);
    expect(await readBy(() => list({ type: "seventh", actor: "actor_1" }))).toEqual([1, 1, sevenths]);
  });

  test("of a type or by an actor are not read beyond the page", async () => {
    for (const filter of [{}, { type: "third" }, { actor: "actor_1" }])
      expect(await readBy(() => list({ ...filter, per_page: 3 }))).toEqual([1, 4]);
  });

  test("are filtered by type, actor, resource and time together, on every page", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          type: optional("third", "seventh", "none"),
          actor: optional("actor_0", "actor_1", "nobody"),
          resource_id: optional("resource_0", "nothing"),
          created_after: optional(new Date(timeOf(10)).toISOString()),
          created_before: optional(new Date(timeOf(40)).toISOString()),
          order: orders,
          per_page: fc.constantFrom(3, 100),
          page: fc.constantFrom(1, 2),
        }),
        async (query) => {
          const { type, actor, resource_id, order, per_page, page: number } = query;
          const allIds = inOrder(
            events.filter(
              (each) =>
                isWithin(query)(each) &&
                each.status === (type ?? each.status) &&
                each.actor.id === (actor ?? each.actor.id) &&
                each.resource.id === (resource_id ?? each.resource.id),
            ),
            order,
          );
          const { items, meta } = await list(query);
          const first = (number - 1) * per_page;
          expect(items.map(({ id }) => id)).toEqual(allIds.slice(first, first + per_page));
          expect(meta).toMatchObject({ page: number, per_page, total: allIds.length });
          expect(meta.next_cursor === null).toBe(first + per_page >= allIds.length);
        },
      ),
      { numRuns: 100, seed: 14 },
    );
  });

  test("have cursors for each filter", async () => {
    const filtered = [
      { type: "third" },
      { actor: "actor_1" },
      { type: "third", actor: "actor_1" },
      { type: "third", actor: "actor_2" },
      { type: "other", actor: "actor_1" },
    ];
    const withResource = filtered.map((each) => ({ ...each, resource_id: "resource_1" }));
    const all = [{}, ...filtered, { resource_id: "resource_1" }, ...withResource];
    for (const [i, filter] of all.entries()) {
      const { meta } = await list({ ...filter, per_page: 1 });
      expect(meta.next_cursor, `${i}`).toEqual(expect.any(String));
      for (const [j, used] of all.entries()) {
        const again = list({ ...used, cursor: meta.next_cursor ?? "" });
        if (i === j) expect((await again).items.length).toBeGreaterThan(0);
        else await expect(again, `${i} in ${j}`).rejects.toThrow(ApiError);
      }
    }
  });
});

test("a block begins when its first record was created, whichever later ones have the same number", async () => {
  const accountId = newId("account");
  const at = (second: number): string => new Date(START + second * 1_000).toISOString();
  const isShared = (i: number): boolean => i >= 64 && i < 96;
  const all = Array.from({ length: 300 }, (_, i) => numbered(isShared(i) ? 64 : i, row(i, { created_at: at(i) })));
  for (const each of all.slice(64, 96)) await write("operation", accountId, [each]);
  await write("operation", accountId, [...all.slice(0, 64), ...all.slice(96)]);
  for (const first of [70, 80, 90]) {
    const { meta } = await listPage({ kind: "operation", accountId, schema }, buildQuery({ created_after: at(first) }));
    expect(meta.total).toBe(300 - first);
  }
});

test("blocks that do not say when they began are read whole, and once", async () => {
  const accountId = newId("account");
  const all = Array.from({ length: 210 }, (_, i) => numbered(1 + (i % 31), row(i)));
  await write("operation", accountId, all);
  const query = buildQuery({
    created_after: new Date(timeOf(20)).toISOString(),
    created_before: new Date(timeOf(80)).toISOString(),
    per_page: 100,
  });
  const ids = inOrder(all.filter(isWithin(query)), "desc");
  expect(await page({}, query, accountId)).toMatchObject({ items: ids.map((id) => ({ id })), meta: { total: ids.length } });
  expect(await readBy(() => page({}, query, accountId))).toEqual([1, 210]);
});
