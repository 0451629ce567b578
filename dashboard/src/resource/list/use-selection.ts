// The selected records of a list, also those on other pages of it. Another filter starts anew: nothing is selected that is out of
// sight, and no more than one action takes.
import { useState } from "react";
import { BULK } from "../../../../shared/domain/limits.ts";

export const SELECTED_MAX = BULK.selected;

interface Selection<Item> {
  selected: readonly Item[];
  /** Selects on the shown page; the selection of other pages stays. */
  selectShown: (items: readonly Item[]) => void;
  select: (items: readonly Item[]) => void;
}

export function useSelection<Item extends { id: string }>(listed: readonly Item[], filter: string): Selection<Item> {
  const [{ of, items }, set] = useState<{ of: string; items: readonly Item[] }>({ of: filter, items: [] });
  const select = (next: readonly Item[]): void => set({ of: filter, items: next.slice(0, SELECTED_MAX) });
  const latest = new Map(listed.map((item) => [item.id, item]));
  const selected = of === filter ? items.map((item) => latest.get(item.id) ?? item) : [];
  return {
    selected,
    selectShown: (next) => select([...selected.filter(({ id }) => !latest.has(id)), ...next.filter(({ id }) => latest.has(id))]),
    select,
  };
}
