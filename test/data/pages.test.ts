// Pages of lists that were read whole, and cursors, against the simplest list there is: a sorted array.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../shared/api/errors.ts";
import { listQuery } from "../../shared/api/fields.ts";
import { decode, isCreatedIn, type PageQuery, buildPage, slicePage, smallPage } from "../../shared/data/pages.ts";

const buildQuery = (query: Partial<PageQuery> = {}): PageQuery => ({ ...listQuery({}).parse({}), ...query });
const sortable = (sortKeys: readonly string[]) => sortKeys.map((sortKey) => ({ value: `record ${sortKey}`, sortKey }));
const orders = fc.constantFrom("asc" as const, "desc" as const);
const sortKeys = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 30 });

const sorted = (all: readonly string[], order: "asc" | "desc") =>
  order === "asc" ? all.toSorted((a, b) => (a < b ? -1 : 1)) : all.toSorted((a, b) => (a < b ? 1 : -1));

/** All pages, each reached by the cursor of the one before; `between` changes the list meanwhile. */
function walk(all: readonly string[], query: PageQuery, between: (all: readonly string[]) => readonly string[] = (same) => same) {
  const pages: string[][] = [];
  let present = all;
  let cursor: string | null | undefined;
  do {
    const { items, meta } = slicePage(sortable(present), { ...query, ...(typeof cursor === "string" && { cursor }) }, "list");
    expect(meta).toMatchObject({ page: 1, per_page: query.per_page, total: present.length });
    pages.push(items.map((value) => value.slice("record ".length)));
    cursor = meta.next_cursor;
    present = between(present);
  } while (cursor !== null && pages.length < 100);
  return pages;
}

describe("a list that was read whole", () => {
  test("has on page N what a sorted array has there, the total, and a cursor unless it is the last page", () => {
    fc.assert(
      fc.property(
        sortKeys,
        orders,
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 6 }),
        (all, order, per_page, page) => {
          const { items, meta } = slicePage(sortable(all), buildQuery({ order, per_page, page }), "list");
          expect(items).toEqual(
            sorted(all, order)
              .slice((page - 1) * per_page, page * per_page)
              .map((sortKey) => `record ${sortKey}`),
          );
          const isLast = page * per_page >= all.length;
          const next_cursor = isLast ? null : expect.any(String);
          expect(meta).toEqual({ page, per_page, total: all.length, next_cursor });
        },
      ),
      { seed: 1 },
    );
  });

  test("is walked by cursors in pages that are full, but for the last", () => {
    fc.assert(
      fc.property(sortKeys, orders, fc.integer({ min: 1, max: 10 }), (all, order, per_page) => {
        const pages = walk(all, buildQuery({ order, per_page }));
        expect(pages.flat()).toEqual(sorted(all, order));
        expect(pages).toHaveLength(Math.max(1, Math.ceil(all.length / per_page)));
      }),
      { seed: 2 },
    );
  });

  test("loses and repeats nothing of what stays, whatever is added and removed while it is walked", () => {
    fc.assert(
      fc.property(
        sortKeys,
        orders,
        fc.infiniteStream(fc.tuple(fc.nat(), fc.string({ minLength: 1, maxLength: 3 }))),
        (all, order, changes) => {
          const removed = new Set<string>();
          const pages = walk(all, buildQuery({ order, per_page: 3 }), (present) => {
            const [at, more] = changes.next().value;
            const removedKey = present[at % Math.max(1, present.length)];
            if (removedKey !== undefined) removed.add(removedKey);
            return [...new Set([...present.filter((sortKey) => sortKey !== removedKey), more])];
          });
          const sortKeys = pages.flat();
          expect(new Set(sortKeys).size).toBe(sortKeys.length);
          expect(sortKeys).toEqual(sorted(sortKeys, order));
          for (const sortKey of all) if (!removed.has(sortKey)) expect(sortKeys).toContain(sortKey);
        },
      ),
      { seed: 3 },
    );
  });

  const day = (n: number) => `2026-11-${String(n).padStart(2, "0")}T00:00:00.000Z`;
  const records = [1, 2, 3, 4, 5].map((n) => ({ id: `id_${n}`, created_at: day(n) }));

  test.each([
    [{}, [5, 4, 3, 2, 1]],
    [{ created_after: day(2) }, [5, 4, 3, 2]],
    [{ created_before: day(4) }, [3, 2, 1]],
    [{ created_after: day(2), created_before: day(4) }, [3, 2]],
    [{ created_after: day(2), created_before: day(4), order: "asc" as const }, [2, 3]],
    [{ created_after: day(4), created_before: day(4) }, []],
  ])("of few records has those created within %o: from the first time on, up to before the second", (range, days) => {
    const { items, meta } = smallPage(records, buildQuery(range), "few");
    expect(items).toEqual(days.map((n) => ({ id: `id_${n}`, created_at: day(n) })));
    expect(meta.total).toBe(days.length);
    expect(
      records
        .filter(isCreatedIn(range))
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(days.map((n) => `id_${n}`).toSorted());
  });
});

describe("a page of what was read for it", () => {
  const items = Array.from({ length: 4 }, (_, i) => ({ number: `0${i}`, id: i }));

  test("leaves out the record that shows that there is a next page, and its cursor names the last that it shows", () => {
    const page = buildPage(items, buildQuery({ per_page: 3, page: 2 }), 40, "list");
    expect(page.items).toEqual(items.slice(0, 3));
    expect(page.meta).toMatchObject({ page: 2, per_page: 3, total: 40 });
    expect(decode(page.meta.next_cursor ?? "", "list")).toBe("02");
  });

  test.each([4, 5])("has no cursor if %i records are asked for and four are there", (per_page) => {
    const page = buildPage(items, buildQuery({ per_page }), 4, "list");
    expect(page).toEqual({ items, meta: { page: 1, per_page, total: 4, next_cursor: null } });
    expect(buildPage([], buildQuery(), 0, "list").meta.next_cursor).toBeNull();
  });
});

describe("a cursor", () => {
  const cursorOf = (query: Partial<PageQuery>, name = "list") =>
    slicePage(sortable(["a", "b", "c"]), buildQuery({ per_page: 1, ...query }), name).meta.next_cursor ?? "";
  const isRejected = (cursor: string, query: Partial<PageQuery> = {}, name = "list") => {
    try {
      slicePage(sortable(["a", "b", "c"]), buildQuery({ ...query, cursor }), name);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      expect(error.code).toBe("VALIDATION_ERROR");
      expect(error.details).toMatchObject({ field: "cursor", errors: [{ field: "cursor" }] });
      return true;
    }
    return false;
  };

  const [after, before] = ["2026-11-01T00:00:00.000Z", "2026-11-02T00:00:00.000Z"];

  test("is accepted by its own list alone: the same name, order and times", () => {
    const queries = [
      {},
      { order: "asc" as const },
      { created_after: after },
      { created_before: after },
      { created_after: after, created_before: before },
    ];
    for (const [i, query] of queries.entries())
      for (const [j, used] of queries.entries()) expect(isRejected(cursorOf(query), used), `${i} in ${j}`).toBe(i !== j);
    expect(isRejected(cursorOf({}), {}, "another list")).toBe(true);
    expect(isRejected(cursorOf({ per_page: 2 }), { per_page: 100 })).toBe(false);
  });

  test("that no list has made is an error of the client", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((text) => Buffer.from(text).toString("base64url")),
        ),
        (text) => {
          expect(isRejected(text)).toBe(true);
        },
      ),
      { seed: 4 },
    );
    const [fingerprint] = JSON.parse(Buffer.from(cursorOf({}), "base64url").toString());
    const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    for (const value of [[fingerprint], [fingerprint, ""], [fingerprint, 1], [fingerprint, "a", "b"], { 0: fingerprint, 1: "a" }])
      expect(isRejected(forged(value)), JSON.stringify(value)).toBe(true);
    expect(isRejected(forged([fingerprint, "a"]))).toBe(false);
  });
});
