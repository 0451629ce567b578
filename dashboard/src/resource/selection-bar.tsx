// How many records of a list are selected: a way to select all that match its filter, and to select none.
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Failure } from "../app/failure.tsx";
import type { ListQuery } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { type List, useAllPages } from "./all-pages.ts";
import { inDigits } from "./number.ts";

interface Props<Item> {
  list: List<Item>;
  query: ListQuery;
  total: number;
  selected: readonly Item[];
  onSelect: (items: readonly Item[]) => void;
}

export function SelectionBar<Item>({ list, query, total, selected, onSelect }: Props<Item>) {
  const all = useAllPages(list, query, onSelect);
  if (selected.length === 0) return null;
  return (
    <SpaceBetween size="xs">
      {all.error !== null && <Failure error={all.error} />}
      <SpaceBetween direction="horizontal" size="xs" alignItems="center">
        <span role="status">{text.resource.list.selected(inDigits(selected.length))}</span>
        {total > selected.length && (
          <Button variant="inline-link" loading={all.pending} onClick={all.fetchAll}>
            {text.resource.list.selectAll(inDigits(total))}
          </Button>
        )}
        <Button variant="inline-link" onClick={() => onSelect([])}>
          {text.resource.list.clearSelection}
        </Button>
      </SpaceBetween>
    </SpaceBetween>
  );
}
