// The parameters of a bulk action in words. A newer service may know more: those are shown as they are.
import { KEEP_RULES } from "../../../shared/domain/retention.ts";
import { text } from "../messages/text.ts";
import { drillsInWords, keepInWords, scheduleInWords } from "../policies/words.ts";
import { labelInWords } from "../resource/list/labels.tsx";

type Parameters = Readonly<Record<string, unknown>>;

export const parametersInWords = (parameters: Parameters): string[] =>
  Object.keys(parameters)
    .map((name) => inWords(name, parameters))
    .filter((line) => line !== "");

/** Empty for what another one says, or what changes nothing. */
function inWords(name: string, parameters: Parameters): string {
  const say = text.bulk.parameters;
  const { [name]: value, timezone } = parameters;
  switch (name) {
    case "add":
      return labelsIn(value) === "" ? "" : say.adds(labelsIn(value));
    case "remove":
      return listIn(value) === "" ? "" : say.removes(listIn(value));
    case "labels":
      return say.labels(labelsIn(value));
    case "note":
      return say.note(String(value));
    case "server_id":
      return say.onServer(String(value));
    case "schedule":
      return scheduleInWords({ schedule: String(value), timezone: String(timezone) });
    case "keep":
      return say.keeps(keepInWords(countsIn(value)));
    case "drill_every_days":
      return say.drills(drillsInWords(value === null ? null : Number(value)));
    case "modules":
      return value === "changed" || value === "all" ? say.modules[value] : say.modules.named(listIn(value));
    case "timezone":
      return "";
    default:
      return isChoice(name) && typeof value === "boolean" ? say.choices[name](value) : `${name}: ${JSON.stringify(value)}`;
  }
}

const isChoice = (name: string): name is keyof typeof text.bulk.parameters.choices =>
  Object.hasOwn(text.bulk.parameters.choices, name);

const fieldsIn = (value: unknown): [string, unknown][] =>
  typeof value === "object" && value !== null ? Object.entries(value) : [];

const labelsIn = (value: unknown): string =>
  fieldsIn(value)
    .map(([key, each]) => labelInWords([key, String(each)]))
    .join(", ");

const listIn = (value: unknown): string => (Array.isArray(value) ? value.join(", ") : String(value));

const countsIn = (value: unknown) =>
  Object.fromEntries(KEEP_RULES.map((rule) => [rule, Number(new Map(fieldsIn(value)).get(rule) ?? 0)]));
