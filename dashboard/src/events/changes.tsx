// What a change did to a resource's fields, and what came of a request.
import Box from "@cloudscape-design/components/box";
import Icon from "@cloudscape-design/components/icon";
import { Fragment } from "react";
import type { Alert } from "../../../shared/api/alerts.ts";
import type { Event, FieldChange, OperationOutcome } from "../../../shared/api/events.ts";
import { kindInWords, valueInWords as measuredInWords } from "../alerts/words.ts";
import { text } from "../messages/text.ts";
import { formatTime } from "../resource/words/moment.ts";
import { errorInWords } from "../resource/words/sentence.ts";
import { sizeInWords } from "../resource/words/size.ts";
import { shownOf } from "../resource/words/status.tsx";

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

const ROLES = (role: string): string | undefined => {
  const roles: Readonly<Record<string, { name: string } | undefined>> = text.people.roles;
  return roles[role]?.name;
};

/** The words for the codes of a field, as the rest of the dashboard says them; a newer service may know more of them. */
const CODES: Readonly<Record<string, (code: string) => string | undefined>> = {
  role: ROLES,
  default_role: ROLES,
  // The keys are the claim's values, which are the user's own words.
  roles: ROLES,
  // Only servers have changes of their status.
  status: (status) => shownOf("server", status).word,
  health: (status) => shownOf("health", status).word,
  notifications: (choice) => wordIn(text.settings.notifications.choices, choice)?.name,
  auto_deploy: (choice) => wordIn(text.events.autoDeploy, choice),
  require_second_factor: (who) => wordIn(text.settings.settings.secondFactorOf, who),
};

const wordIn = <Word,>(words: Readonly<Record<string, Word>>, code: string): Word | undefined => words[code];

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

function textInWords(value: string, field: string): string {
  const word = CODES[field]?.(value);
  if (word !== undefined) return word;
  return MOMENT.test(value) ? formatTime(value) : value;
}

/** A newer service may know more fields than this page. */
function nameOf(field: string): string {
  const names: Readonly<Record<string, string>> = text.events.fields;
  return names[field] ?? field;
}

/** Their keys are the user's own words. */
const OWN_WORDS = ["labels", "roles"];

function valueInWords(value: unknown, field: string): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? text.events.on : text.events.off;
  if (typeof value === "number" && field.endsWith("_bytes")) return sizeInWords(value);
  if (typeof value === "string") return textInWords(value, field);
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) return value.map((each) => valueInWords(each, field)).join(", ");
  // An object with the status alone.
  if (field === "health")
    return Object.values(value)
      .map((status) => valueInWords(status, field))
      .join(", ");
  const parts = Object.entries(value).map(([name, part]) => {
    const isOwn = OWN_WORDS.includes(field);
    return `${isOwn ? name : nameOf(name)}: ${valueInWords(part, isOwn ? field : name)}`;
  });
  return parts.length === 0 ? "–" : parts.join(", ");
}
