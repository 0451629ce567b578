// What the dialogs of bulk actions get: the selected records, and what is done with them.
import type { Labels } from "../../../shared/api/fields.ts";
import type { Selectable } from "../messages/en/bulk.tsx";

/** A selected record, as the dialogs know it. */
export interface Candidate {
  id: string;
  name: string;
  labels: Labels;
  /** Why the action leaves it out. */
  why: string | undefined;
}

/** What every dialog of a bulk action gets. */
export interface DialogProps {
  kind: Selectable;
  /** As the API names it: "stop". */
  action: string;
  selected: readonly Candidate[];
  /** The service has begun with it, as this operation. */
  onDone: (begun: { data: { id: string } }) => void;
  onDismiss: () => void;
}
