// What a change did to a resource's fields, and what came of a request.
import Box from "@cloudscape-design/components/box";
import Icon from "@cloudscape-design/components/icon";
import { Fragment } from "react";
import type { Alert } from "../../../shared/api/alerts.ts";
import type { Event, FieldChange, OperationOutcome } from "../../../shared/api/events.ts";
import { kindInWords, valueInWords as measuredInWords } from "../alerts/words.ts";
import { text } from "../messages/text.ts";
import { errorInWords } from "../resource/sentence.ts";
import { sizeInWords } from "../resource/size.ts";
import { shownOf } from "../resource/status.tsx";

export const Changes = ({ of }: { of: Event }) =>
  changesIn(of).map((change) => (
    <Box key={change} variant="small" display="block">
      <Arrowed>{change}</Arrowed>
    </Box>
  ));

const ARROW = " → ";

/** The arrow as a picture: the pages' font has none. */
const Arrowed = ({ children }: { children: string }) =>
  children.split(ARROW).map((part, index) => (
    // oxlint-disable-next-line react/no-array-index-key -- parts of one text, which do not move
    <Fragment key={index}>
      {index > 0 && (
        <>
          {" "}
          <span className="unseen">→</span>
          <Icon name="angle-right" size="small" />{" "}
        </>
      )}
      {part}
    </Fragment>
  ));

/** "Name: Shop → Shop 2". */
export const changesIn = ({ type, data }: Pick<Event, "type" | "data">): string[] => [
  ...(data?.alert ? [alertInWords(data.alert)] : []),
  ...(data?.changes ?? []).map(inWords),
  ...(data?.operation ? outcomeInWords(data.operation, type) : []),
];

/** "Failed: The provider's server limit is reached". That an operation ended, and how, is said by the type of its own event. */
function outcomeInWords(outcome: OperationOutcome, type: string): string[] {
  const { status, error } = outcome;
  const reason = error === null ? [] : [errorInWords(error)];
  return type === outcome.type ? [[shownOf("operation", status).word, ...reason].join(": ")] : reason;
}

const alertInWords = (alert: Alert): string =>
  [kindInWords(alert.kind), measuredInWords(alert)].filter((part) => part !== "").join(": ");

function inWords({ field, before, after }: FieldChange): string {
  const name = nameOf(field);
  return before === undefined && after === undefined
    ? text.events.changedUnseen(name)
    : `${name}: ${valueInWords(before, field)}${ARROW}${valueInWords(after, field)}`;
}

/** A newer service may know more fields than this page. */
function nameOf(field: string): string {
  const known: Readonly<Record<string, string>> = text.events.fields;
  return known[field] ?? field;
}

function valueInWords(value: unknown, field: string): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? text.events.on : text.events.off;
  if (typeof value === "number" && field.endsWith("_bytes")) return sizeInWords(value);
  if (typeof value === "string" || typeof value === "number") return String(value);
  if (Array.isArray(value)) return value.map((each) => valueInWords(each, field)).join(", ");
  const parts = Object.entries(value).map(([name, part]) => {
    // The keys of labels are the user's own words.
    return `${field === "labels" ? name : nameOf(name)}: ${valueInWords(part, name)}`;
  });
  return parts.length === 0 ? "–" : parts.join(", ");
}
