// A column of a list, as its page declares it.
import type { ReactNode } from "react";

export interface Column<Item> {
  id: string;
  header: string;
  cell: (item: Item) => ReactNode;
  width?: number;
  /** The header is for screen readers alone: a column of buttons explains itself. */
  quiet?: boolean;
  /** The same as plain text, for a file; columns without it are left out there. */
  text?: (item: Item) => string;
  /** The header there, where the text is not what the list shows. */
  textHeader?: string;
  /** A phone leaves it out where the cell has nothing to say: its text alone may be empty beside a button or a bar. */
  isEmpty?: (item: Item) => boolean;
  /** Shown only if the user chooses it. */
  hidden?: boolean;
}
