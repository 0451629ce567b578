// Labels as they are edited: one on a line.
import FormField from "@cloudscape-design/components/form-field";
import Textarea from "@cloudscape-design/components/textarea";
import type { ReactNode } from "react";
import type { Labels as Map } from "../../../../shared/api/fields.ts";
import { text } from "../../messages/text.ts";
import { labelsToText } from "../list/labels.tsx";
import type { TextBinding } from "./use-form.ts";

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
export function mergedLabels(
  userValues: { labels: string },
  base: { labels: string },
  currentValues: { labels: string },
): { labels: string } {
  const [userLabels, before, merged] = [labelsIn(userValues.labels), labelsIn(base.labels), labelsIn(currentValues.labels)];
  for (const key of Object.keys({ ...before, ...userLabels })) {
    if (userLabels[key] === before[key]) continue;
    if (userLabels[key] === undefined) delete merged[key];
    else merged[key] = userLabels[key];
  }
  return { labels: labelsToText(merged) };
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
