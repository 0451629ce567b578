// Labels as they are shown.
import type { Labels as Map } from "../../../../shared/api/fields.ts";
import { text } from "../../messages/text.ts";
import type { Column } from "./column.ts";
import { useListState } from "./use-list-state.ts";

/** Sorts the labels by their keys, however they were written. */
const sorted = (labels: Map): [string, string][] => Object.entries(labels).toSorted(([a], [b]) => a.localeCompare(b));

export const labelInWords = ([key, value]: [string, string]): string => (value === "" ? key : `${key}: ${value}`);

export const labelsToText = (labels: Map): string => sorted(labels).map(labelInWords).join("\n");

interface Props {
  of: Map;
  /** Each is a button that narrows the list to the records with this label. */
  areFilters?: boolean;
  /** Prefix of the list's parameters, where a page has several lists. */
  prefix?: string;
}

export function Labels({ of, areFilters = false, prefix = "" }: Props) {
  const labels = sorted(of);
  if (labels.length === 0) return "–";
  return (
    <div className="labels">
      {labels.map((label) =>
        areFilters ? (
          <LabelFilter key={label[0]} label={label} prefix={prefix} />
        ) : (
          <span key={label[0]}>{labelInWords(label)}</span>
        ),
      )}
    </div>
  );
}

function LabelFilter({ label, prefix }: { label: [string, string]; prefix: string }) {
  const [listState, go] = useListState(prefix);
  return (
    <button
      type="button"
      title={text.resource.find.onlyLabel(labelInWords(label))}
      onClick={() => go({ ...listState, page: 1, label: label.join(":") })}
    >
      {labelInWords(label)}
    </button>
  );
}

/** The column for lists whose records have labels. */
export const labelsColumn: Column<{ labels: Map }> = {
  id: "labels",
  get header() {
    return text.resource.labels.title;
  },
  cell: ({ labels }) => <Labels of={labels} areFilters />,
  text: ({ labels }) => labelsToText(labels),
  isEmpty: ({ labels }) => labelsToText(labels) === "",
};
