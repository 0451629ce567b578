// Finds the code of a sentence, and its parameters, among templates: `{name}` in a template stands for a parameter.
import { withParts } from "./parts.ts";

export interface Recognized<Code extends string> {
  code: Code;
  parameters: Record<string, string>;
}

/** Parameters that are sentences themselves, of which the code must be known. */
const PARTS: ReadonlySet<string> = new Set(["advice", "is", "what", "why"]);

interface Pattern<Code> {
  code: Code;
  names: readonly string[];
  matches: RegExp;
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** What has most words of its own comes first: it says most. */
function buildPatterns<Code extends string>(templates: Readonly<Record<Code, string>>): readonly Pattern<Code>[] {
  const isCode = (name: string): name is Code => name in templates;
  return Object.keys(templates)
    .filter(isCode)
    .map((code) => ({ code, words: templates[code].split(/\{\w+\}/), names: [...templates[code].matchAll(/\{(\w+)\}/g)] }))
    .toSorted((a, b) => b.words.join("").length - a.words.join("").length)
    .map(({ code, words, names }) => ({
      code,
      names: names.map(([, name = ""]) => name),
      matches: new RegExp(`^${words.map(escaped).join("(.+?)")}$`, "s"),
    }));
}

export function createRecognizer<Code extends string>(templates: Readonly<Record<Code, string>>) {
  let patterns: readonly Pattern<Code>[] | undefined; // built when first needed: most responses have no sentence
  const recognize = (sentence: string | null): Recognized<Code> | null => {
    if (sentence === null) return null;
    patterns ??= buildPatterns(templates);
    for (const { code, names, matches } of patterns) {
      const match = matches.exec(sentence);
      const parameters = match && parametersIn(names, match.slice(1));
      if (parameters) return { code, parameters };
    }
    return null;
  };
  /** Undefined if a part is no known sentence. */
  function parametersIn(names: readonly string[], values: readonly string[]): Record<string, string> | undefined {
    const ownParameters = Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]));
    const parts: (Recognized<Code> & { name: string })[] = [];
    for (const name of names) {
      if (!PARTS.has(name)) continue;
      const part = recognize(ownParameters[name] ?? "");
      if (part === null) return undefined;
      parts.push({ name, ...part });
    }
    return withParts(ownParameters, parts);
  }
  return recognize;
}
