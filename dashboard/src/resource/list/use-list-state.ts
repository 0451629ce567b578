// The page, the filters and the order of a list, in the URL, for links and the Back button.
import { useSearchParams } from "react-router";

export type FilterName = "status" | "protection" | "health";

export const PARAMETERS = [
  "status",
  "protection",
  "health",
  "find",
  "label",
  "sort",
  "class",
  "type",
  "actor",
  "resource",
  "day",
  "from",
  "to",
  "version",
  "edition",
  "image",
  "server",
  "instance",
  "provider",
  "region",
  "size",
  "kind",
  "older",
  "drill",
  "reboot",
  "disk",
  "memory",
  "instances",
  "locked",
  "larger",
  "permission",
  "expires",
  "role",
  "factors",
] as const;
export type Parameter = (typeof PARAMETERS)[number];

export interface ListState extends Partial<Record<Parameter, string | undefined>> {
  page: number;
}

/** Whether an address says something about this list of a page, which is to be open then. */
export const hasListState = (search: URLSearchParams, prefix: string): boolean =>
  [...search.keys()].some((name) => name.startsWith(`${prefix}-`));

/** `prefix` distinguishes the lists of one page. */
export function useListState(prefix: string): [ListState, (next: ListState) => void] {
  const [search, setSearch] = useSearchParams();
  const name = (parameter: string) => (prefix === "" ? parameter : `${prefix}-${parameter}`);
  const page = Number(search.get(name("page")) ?? 1);
  const filters = PARAMETERS.flatMap((each) => {
    const value = search.get(name(each));
    return value === null ? [] : [[each, value]];
  });
  const listState: ListState = { page: Number.isInteger(page) && page >= 1 ? page : 1, ...Object.fromEntries(filters) };
  // Only what differs from what is shown is set in the current address: a choice before this one may not be shown yet.
  const go = (next: ListState): void =>
    setSearch(() => {
      const after = new URLSearchParams(window.location.search);
      for (const each of ["page", ...PARAMETERS] as const) {
        if (next[each] === listState[each]) continue;
        const value = each === "page" && next.page <= 1 ? undefined : next[each];
        if (value) after.set(name(each), String(value));
        else after.delete(name(each));
      }
      return after;
    });
  return [listState, go];
}
