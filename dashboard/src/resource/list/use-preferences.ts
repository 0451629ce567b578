// How a user wants to see a list: the page size, the columns, the density and the sort, remembered in this browser for each list.
import { useState } from "react";
import { useLocation } from "react-router";
import { parseJson } from "../../../../shared/domain/json.ts";

export const PAGE_SIZES = [10, 20, 50, 100] as const;

export interface Preferences {
  perPage?: (typeof PAGE_SIZES)[number] | undefined;
  /** The columns that differ from the list's own choice, so that a new column appears. */
  columns?: Readonly<Record<string, boolean>> | undefined;
  compact?: boolean | undefined;
  sort?: string | undefined;
}

/**
 * Returns the key under which the browser keeps something of a list, the same for every instance's page. `prefix` tells the lists
 * of a page apart.
 */
export const listKey = (kind: "list" | `filters ${string}`, pathname: string, prefix: string): string =>
  `${kind} ${pathname.replaceAll(/[a-z]+_[0-9a-z]{26}/g, ":id")} ${prefix}`.trim();

export function usePreferences(prefix: string): [Preferences, (next: Preferences) => void] {
  const { pathname } = useLocation();
  const key = listKey("list", pathname, prefix);
  const [preferences, set] = useState(() => stored(key));
  return [
    preferences,
    (next) => {
      localStorage.setItem(key, JSON.stringify(next));
      set(next);
    },
  ];
}

/** The stored value may come from another version, or be anything: what is not valid counts as not chosen. */
function stored(key: string): Preferences {
  const value = parseJson(localStorage.getItem(key) ?? "{}");
  if (typeof value !== "object" || value === null) return {};
  const of = (name: keyof Preferences): unknown => Reflect.get(value, name);
  const [sort, columns, compact] = [of("sort"), of("columns"), of("compact")];
  const isFlags = (flags: unknown): flags is Record<string, boolean> =>
    typeof flags === "object" && flags !== null && Object.values(flags).every((each) => typeof each === "boolean");
  return {
    perPage: PAGE_SIZES.find((size) => size === of("perPage")),
    columns: isFlags(columns) ? columns : undefined,
    compact: typeof compact === "boolean" ? compact : undefined,
    sort: typeof sort === "string" ? sort : undefined,
  };
}
