// How many records of a list are selected: a way to select all that match its filter, and to select none.
import Button from "@cloudscape-design/components/button";
import { text } from "../../messages/text.ts";
import type { useAllPages } from "./all-pages.ts";
import { formatCount } from "../words/number.ts";
import { SELECTED_MAX } from "./use-selection.ts";

interface Props {
  selected: readonly unknown[];
  total: number;
  everything: ReturnType<typeof useAllPages>;
  onClear: () => void;
}

/** The bar is one line, because it takes the place of one: rows that moved would be missed by the next click. */
export const SelectionBar = ({ selected, total, everything, onClear }: Props) => (
  <span className="selection">
    <span role="status">
      {selected.length < SELECTED_MAX
        ? text.resource.list.selected(formatCount(selected.length))
        : text.resource.list.selectedMost(formatCount(selected.length))}
    </span>
    {Math.min(total, SELECTED_MAX) > selected.length && (
      <Button variant="inline-link" loading={everything.pending} onClick={everything.fetchAll}>
        {total <= SELECTED_MAX
          ? text.resource.list.selectAll(formatCount(total))
          : text.resource.list.selectFirst(formatCount(SELECTED_MAX))}
      </Button>
    )}
    <Button variant="inline-link" onClick={onClear}>
      {text.resource.list.clearSelection}
    </Button>
  </span>
);
