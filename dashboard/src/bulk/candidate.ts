// What the dialogs of bulk actions get: the selected records, and what is done with them.
import type { Labels } from "../../../shared/api/fields.ts";
import type { Selectable } from "../messages/en/bulk.tsx";

/** A selected record, as the dialogs know it. */
export interface Candidate {
  id: string;
  name: string;
  /** Undefined where they may have changed since the record was selected. */
  labels: Labels | undefined;
  /** Why the action leaves it out. */
  exclusionReason: string | undefined;
}

/**
 * What the selected records are for a dialog. What is known only as it was when it was selected on another page is not left out:
 * the service decides, and the dry run says so.
 */
export const candidates = <Item extends { id: string; labels: Labels }>(
  selected: readonly Item[],
  current: ReadonlyMap<string, Item>,
  { nameOf, whyNot }: { nameOf: (item: Item) => string; whyNot: ((item: Item) => string | undefined) | undefined },
): Candidate[] =>
  selected.map((item) => {
    const currentItem = current.get(item.id);
    return {
      id: item.id,
      name: nameOf(item),
      labels: currentItem?.labels,
      exclusionReason: currentItem && whyNot?.(currentItem),
    };
  });

/** What every dialog of a bulk action gets. */
export interface DialogProps {
  kind: Selectable;
  /** The action's name in the API: "stop". */
  action: string;
  selected: readonly Candidate[];
  /** The service has begun with it, as this operation. */
  onDone: (response: { data: { id: string } }) => void;
  onDismiss: () => void;
}
