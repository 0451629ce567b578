// Labels: shown, and edited one on a line.
import FormField from "@cloudscape-design/components/form-field";
import Textarea from "@cloudscape-design/components/textarea";
import type { ReactNode } from "react";
import type { Labels as Map } from "../../../shared/api/fields.ts";
import { text } from "../messages/text.ts";
import type { TextBinding } from "./use-form.ts";
import type { Column } from "./column.ts";

/** In the order of their keys, however they were written. */
const sorted = (labels: Map): [string, string][] => Object.entries(labels).toSorted(([a], [b]) => a.localeCompare(b));

const labelInWords = ([key, value]: [string, string]): string => (value === "" ? key : `${key}: ${value}`);

export const labelsToText = (labels: Map): string => sorted(labels).map(labelInWords).join("\n");

/** Lines such as `env: production`; the schema says what is wrong with them. */
export const labelsIn = (typed: string): Map =>
  Object.fromEntries(
    typed
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "")
      .map((line) => {
        const [key = "", ...value] = line.split(":");
        return [key.trim(), value.join(":").trim()];
      }),
  );

/** The user's changes of labels, made to those that somebody else has changed meanwhile. */
export function mergedLabels(mine: { labels: string }, base: { labels: string }, theirs: { labels: string }): { labels: string } {
  const [own, before, merged] = [labelsIn(mine.labels), labelsIn(base.labels), labelsIn(theirs.labels)];
  for (const key of Object.keys({ ...before, ...own })) {
    if (own[key] === before[key]) continue;
    if (own[key] === undefined) delete merged[key];
    else merged[key] = own[key];
  }
  return { labels: labelsToText(merged) };
}

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

interface FieldProps extends TextBinding {
  label?: ReactNode;
  description?: string;
}

export function LabelsField({
  label = text.resource.form.optional(text.resource.labels.title),
  description = text.resource.labels.about,
  value,
  error,
  onChange,
}: FieldProps) {
  return (
    <FormField label={label} description={description} errorText={error}>
      <Textarea value={value} rows={3} onChange={({ detail }) => onChange(detail.value)} />
    </FormField>
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
