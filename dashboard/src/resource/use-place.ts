// The page and filter of a list, in the URL, for links and the Back button.
import { useSearchParams } from "react-router";

/** The API takes one filter at a time. */
const FILTERS = ["status", "protection"] as const;
export type FilterName = (typeof FILTERS)[number];

interface Place {
  page: number;
  filter: { name: FilterName; value: string } | undefined;
}

/** `prefix` distinguishes the lists of one page. */
export function usePlace(prefix: string): [Place, (next: Place) => void] {
  const [search, setSearch] = useSearchParams();
  const name = (what: string) => (prefix === "" ? what : `${prefix}-${what}`);
  const page = Number(search.get(name("page")) ?? 1);
  const [filter] = FILTERS.flatMap((each) => {
    const value = search.get(name(each));
    return value === null ? [] : [{ name: each, value }];
  });
  const place = { page: Number.isInteger(page) && page >= 1 ? page : 1, filter };
  const go = (next: Place): void =>
    setSearch((before) => {
      const after = new URLSearchParams(before);
      after.delete(name("page"));
      for (const each of FILTERS) after.delete(name(each));
      if (next.filter !== undefined) after.set(name(next.filter.name), next.filter.value);
      if (next.page > 1) after.set(name("page"), String(next.page));
      return after;
    });
  return [place, go];
}
