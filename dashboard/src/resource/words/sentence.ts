// What the API says by a code and parameters, in the words of the catalog. A newer service may know more codes: then its own
// sentence is shown.
import { fillWithParts } from "../../../../shared/domain/parts.ts";
import type { Parameters } from "../../../../shared/domain/sentences.ts";
import { showWord } from "../../app/recognized.ts";
import { steps as englishSteps } from "../../messages/en/steps.ts";
import { text } from "../../messages/text.ts";
import { formatTime } from "./moment.ts";
import { sizeInWords } from "./size.ts";

interface Coded {
  code: string;
  parameters: Parameters;
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** `otherwise` is the API's own sentence; a service of before it had codes sends none. */
export function sentenceOf(coded: Coded | null | undefined, otherwise: string): string {
  const template = templateOf(coded?.code);
  return template === undefined ? otherwise : fillWithParts(template, coded?.parameters ?? {}, { templateOf, show });
}

function templateOf(code: string | number | undefined): string | undefined {
  const sentences: Readonly<Record<string, string>> = text.resource.sentences;
  const reasons: Readonly<Record<string, string>> = text.resource.reasons;
  const problems: Readonly<Record<string, string>> = text.app.problems;
  return code === undefined ? undefined : (sentences[code] ?? reasons[code] ?? problems[code]);
}

function show(value: string | number, name: string): string {
  if (name === "step") return stepInWords(String(value));
  if (name.endsWith("_bytes")) return sizeInWords(Number(value));
  return typeof value === "string" && TIME.test(value) ? formatTime(value) : showWord(value, name);
}

/** Translates a step by its English name. */
function stepInWords(label: string): string {
  const steps: Readonly<Record<string, string>> = text.operations.steps;
  const [code = ""] = Object.entries(englishSteps).find(([, english]) => english === label) ?? [];
  return steps[code] ?? label;
}

/** Why an operation failed. An older service sends no code. */
export const errorInWords = ({ message, reason }: { message: string; reason?: Coded | null | undefined }): string =>
  sentenceOf(reason, message);

/** What a check found. */
export const checkInSentence = ({ detail, reason }: { detail: string; reason?: Coded | null | undefined }): string =>
  sentenceOf(reason, detail);

/** Why a record has its status; null if nothing says so. */
export const reasonInWords = ({
  status_reason,
  reason,
}: {
  status_reason: string | null;
  reason?: Coded | null;
}): string | null => (status_reason === null ? null : sentenceOf(reason, status_reason));
