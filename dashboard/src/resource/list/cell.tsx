// What a column shows of a record.
import { type ReactNode, useMemo } from "react";
import type { Column } from "./column.ts";

interface Props<Item> {
  of: Column<Item>["cell"];
  item: Item;
}

/** Renders again only for another record, not for another selection: what is in 100 rows takes longer than a click may. */
export const Cell = <Item,>({ of, item }: Props<Item>): ReactNode => useMemo(() => of(item), [of, item]);
