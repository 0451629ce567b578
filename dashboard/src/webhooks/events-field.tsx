// The events that a webhook is sent, one a line.
import FormField from "@cloudscape-design/components/form-field";
import Textarea from "@cloudscape-design/components/textarea";
import { text } from "../messages/text.ts";
import type { TextBinding } from "../resource/form/use-form.ts";

export const eventsIn = (lines: string): string[] =>
  lines
    .split(/[\s,]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

export const EventsField = ({ value, error, onChange }: TextBinding) => (
  <FormField label={text.webhooks.create.events} constraintText={text.webhooks.create.eventsHint} errorText={error}>
    <Textarea value={value} onChange={({ detail }) => onChange(detail.value)} spellcheck={false} rows={4} />
  </FormField>
);
