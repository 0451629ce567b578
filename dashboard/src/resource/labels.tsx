// Labels as they are shown.
import type { Labels as Map } from "../../../shared/api/fields.ts";
import { text } from "../messages/text.ts";
import type { Column } from "./column.ts";

/** In the order of their keys, however they were written. */
const sorted = (labels: Map): [string, string][] => Object.entries(labels).toSorted(([a], [b]) => a.localeCompare(b));

const labelInWords = ([key, value]: [string, string]): string => (value === "" ? key : `${key}: ${value}`);

export const labelsToText = (labels: Map): string => sorted(labels).map(labelInWords).join("\n");

export function Labels({ of }: { of: Map }) {
  const labels = sorted(of);
  if (labels.length === 0) return "–";
  return (
    <div className="labels">
      {labels.map(([key, value]) => (
        <span key={key}>{labelInWords([key, value])}</span>
      ))}
    </div>
  );
}

/** Of a list whose records have labels. */
export const labelsColumn: Column<{ labels: Map }> = {
  id: "labels",
  get header() {
    return text.resource.labels.title;
  },
  cell: ({ labels }) => <Labels of={labels} />,
  text: ({ labels }) => labelsToText(labels),
};
