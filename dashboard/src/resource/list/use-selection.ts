// The selected records of a list, also those on other pages of it. Another filter starts anew: nothing is selected that is out of
// sight, and no more than one action takes.
import { useState } from "react";
import { MINUTE_MS } from "../../../../shared/domain/durations.ts";
import { BULK } from "../../../../shared/domain/limits.ts";
import type { ListQuery } from "../../app/queries.ts";
import type { ListState } from "./use-list-state.ts";

export const SELECTED_MAX = BULK.selected;

/** What the actions on selected records get. */
export interface SelectedProps<Item> extends Pick<Selection<Item>, "selected" | "isCurrent"> {
  onDone: () => void;
}

interface Selection<Item> {
  selected: readonly Item[];
  /** Selects on the shown page; the selection of other pages stays. */
  selectShown: (items: readonly Item[]) => void;
  /** Selects records that were fetched just now. */
  select: (items: readonly Item[]) => void;
  /** Whether a record is known as it is now, and not only as it was when it was selected on another page. */
  isCurrent: (item: Item) => boolean;
}

/** What a selection is of, by the page's address: a query may have the time in it, which passes. */
export const selectionKey = (listState: ListState, only: ListQuery): string =>
  JSON.stringify({ ...listState, ...only, page: undefined, sort: undefined });

/** The age that the rows of a page may have, and a little more. */
const CURRENT_MS = MINUTE_MS;

interface State<Item> {
  of: string;
  items: readonly Item[];
  /** The time at which all of the filter's records were fetched. */
  fetchedAt: number;
}

export function useSelection<Item extends { id: string }>(listed: readonly Item[], filter: string): Selection<Item> {
  const [{ of, items, fetchedAt }, set] = useState<State<Item>>({ of: filter, items: [], fetchedAt: 0 });
  const select = (next: readonly Item[], at: number): void =>
    set({ of: filter, items: next.slice(0, SELECTED_MAX), fetchedAt: at });
  const latest = new Map(listed.map((item) => [item.id, item]));
  const selected = of === filter ? items.map((item) => latest.get(item.id) ?? item) : [];
  return {
    selected,
    selectShown: (next) =>
      select([...selected.filter(({ id }) => !latest.has(id)), ...next.filter(({ id }) => latest.has(id))], fetchedAt),
    select: (next) => select(next, Date.now()),
    isCurrent: ({ id }) => latest.has(id) || Date.now() - fetchedAt < CURRENT_MS,
  };
}
