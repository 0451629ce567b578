// Lists of at most a few hundred records, which the API does not filter: the page reads them whole, and narrows and sorts them.
import { DAY_MS } from "../../../../shared/domain/durations.ts";
import { PER_PAGE_MAX } from "../../../../shared/domain/limits.ts";
import type { ListQuery } from "../../app/queries.ts";
import { serviceNow } from "../../session/clock.ts";
import { allPages, type List } from "./all-pages.ts";
import type { ListState } from "./use-list-state.ts";

interface Rules<Item> {
  /** What the search looks at; the first is the name, by which the list is sorted. */
  textsOf: (item: Item) => readonly string[];
  /** Whether the list's own filters let it through. */
  matches: (item: Item, listQuery: ListQuery) => boolean;
}

/** Whatever accents it is typed with. */
const simplify = (text: string): string => text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();

const wordsIn = ({ search = "", label = [] }: ListQuery): string[] =>
  [search, label]
    .flat()
    .flatMap((words) => simplify(String(words)).split(/\s+/))
    .filter((word) => word !== "");

const bySort = <Item>(items: readonly Item[], { sort, order }: ListQuery, textsOf: Rules<Item>["textsOf"]): readonly Item[] => {
  const nameOf = (item: Item): string => textsOf(item)[0] ?? "";
  const sorted = sort === "name" ? items.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b))) : items;
  return order === (sort === "name" ? "desc" : "asc") ? sorted.toReversed() : sorted;
};

/** The list as a table asks for it: a page of what it filters and sorts, or all of that if no page is named. */
export const smallList =
  <Item>(list: List<Item>, { textsOf, matches }: Rules<Item>): List<Item> =>
  (query) => {
    const { page, per_page = PER_PAGE_MAX, created_after, created_before } = query;
    const dates = {
      ...(created_after !== undefined && { created_after }),
      ...(created_before !== undefined && { created_before }),
    };
    const words = wordsIn(query);
    const isFound = (item: Item): boolean => {
      const texts = textsOf(item).map(simplify);
      return words.every((word) => texts.some((text) => text.includes(word)));
    };
    return {
      queryKey: [...list({}).queryKey.slice(0, -1), "small", query],
      // The pages belong to this query: it retries, is cancelled and says whether the service was reached.
      queryFn: async ({ signal }) => {
        const all = await allPages(
          list,
          dates,
          () => true,
          (each) => each.queryFn({ signal }),
        );
        const matchingItems = bySort(
          all.filter((item) => isFound(item) && matches(item, query)),
          query,
          textsOf,
        );
        const [at, size] = [Number(page ?? 1), Number(per_page)];
        const data = page === undefined ? [...matchingItems] : matchingItems.slice((at - 1) * size, at * size);
        return { data, meta: { page: at, per_page: size, total: matchingItems.length, next_cursor: null } };
      },
    };
  };

const DAYS = ["30", "90"] as const;

/** Filters for what was not used for so many days, which includes what was never used, and for that alone. */
export const UNUSED = [...DAYS, "never"] as const;
type Unused = (typeof UNUSED)[number];

export const unusedIn = ({ older }: ListState): Unused | undefined => UNUSED.find((each) => each === older);

export function isUnused(at: string | null, unused: ListQuery[string]): boolean {
  if (unused === undefined || at === null) return true;
  return unused !== "never" && Date.parse(at) < serviceNow() - Number(unused) * DAY_MS;
}
