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
] as const;
type Parameter = (typeof PARAMETERS)[number];

export interface Place extends Partial<Record<Parameter, string | undefined>> {
  page: number;
}

/** `prefix` distinguishes the lists of one page. */
export function usePlace(prefix: string): [Place, (next: Place) => void] {
  const [search, setSearch] = useSearchParams();
  const name = (what: string) => (prefix === "" ? what : `${prefix}-${what}`);
  const page = Number(search.get(name("page")) ?? 1);
  const given = PARAMETERS.flatMap((each) => {
    const value = search.get(name(each));
    return value === null ? [] : [[each, value]];
  });
  const place: Place = { page: Number.isInteger(page) && page >= 1 ? page : 1, ...Object.fromEntries(given) };
  const go = (next: Place): void =>
    setSearch((before) => {
      const after = new URLSearchParams(before);
      for (const each of ["page", ...PARAMETERS]) after.delete(name(each));
      for (const each of PARAMETERS) if (next[each]) after.set(name(each), next[each]);
      if (next.page > 1) after.set(name("page"), String(next.page));
      return after;
    });
  return [place, go];
}
