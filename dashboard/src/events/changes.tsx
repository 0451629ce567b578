// What a change did to a resource's fields.
import Box from "@cloudscape-design/components/box";
import type { Event, FieldChange } from "../../../shared/api/settings.ts";
import { text } from "../messages/text.ts";

export const Changes = ({ of }: { of: Event }) =>
  changesIn(of).map((change) => (
    <Box key={change} variant="small" display="block">
      {change}
    </Box>
  ));

/** "Name: Shop → Shop 2". */
export const changesIn = ({ data }: Pick<Event, "data">): string[] => (data?.changes ?? []).map(inWords);

/** A newer service may know more fields than this page. */
function inWords({ field, before, after }: FieldChange): string {
  const known: Readonly<Record<string, string>> = text.events.fields;
  const name = known[field] ?? field;
  return before === undefined && after === undefined
    ? text.events.changedUnseen(name)
    : `${name}: ${valueInWords(before)} → ${valueInWords(after)}`;
}

function valueInWords(value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? text.events.on : text.events.off;
  if (typeof value === "string" || typeof value === "number") return String(value);
  if (Array.isArray(value)) return value.map(valueInWords).join(", ");
  const parts = Object.entries(value).map(([name, part]) => `${name}: ${valueInWords(part)}`);
  return parts.length === 0 ? "–" : parts.join(", ");
}
