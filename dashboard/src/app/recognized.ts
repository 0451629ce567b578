// What the API says without a code: what is wrong with a request, or with a field of it. A newer service may say more: that is
// shown as it is.
import { recognizeProblem } from "../../../shared/domain/problems.ts";
import { fillIn } from "../../../shared/domain/sentences.ts";
import { text } from "../messages/text.ts";

export function recognized(sentence: string): string {
  const problem = recognizeProblem(sentence);
  return problem === null ? sentence : fillIn(text.app.problems[problem.code], problem.parameters, showWord);
}

const NAMES_OF_WORDS = new Set(["action", "field", "phase", "resource", "status"]);

/** What a parameter names, in the words of the catalog. A newer service may name more. */
export function showWord(value: string | number, name: string): string {
  const words: Readonly<Record<string, string>> = text.app.words;
  return (NAMES_OF_WORDS.has(name) ? words[value] : undefined) ?? String(value);
}
