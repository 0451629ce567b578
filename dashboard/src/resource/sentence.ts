// What the API says by a code and parameters, in the words of the catalog. A newer service may know more codes: then its own sentence is shown.
import { fillIn, type Parameters } from "../../../shared/domain/sentences.ts";
import { text } from "../messages/text.ts";
import { inShort } from "./moment.ts";
import { sizeInWords } from "./size.ts";

interface Coded {
  code: string;
  parameters: Parameters;
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

const inWords = (value: string | number, name: string): string => {
  if (name.endsWith("_bytes")) return sizeInWords(Number(value));
  return typeof value === "string" && TIME.test(value) ? inShort(value) : String(value);
};

/** `otherwise` is the API's own sentence; a service of before it had codes sends none. */
export function sentenceOf(coded: Coded | undefined, otherwise: string): string {
  const known: Readonly<Record<string, string>> = text.resource.sentences;
  const template = coded && known[coded.code];
  return template === undefined ? otherwise : fillIn(template, coded?.parameters ?? {}, inWords);
}
