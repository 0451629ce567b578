// A sentence that is a parameter of another: `{name}_code` is its code, and its own parameters stand beside those of the whole.
// One whose name is taken there has the part's name before its own, as `why_why` has: the reason of the reason.
import { fillIn, type Parameters } from "./sentences.ts";

/** `ownParameters` has the English sentence of each part under its name. */
export function withParts<Value extends string | number>(
  ownParameters: Readonly<Record<string, Value>>,
  parts: readonly { name: string; code: string; parameters: Readonly<Record<string, Value>> }[],
): Record<string, Value | string> {
  const all: Record<string, Value | string> = { ...ownParameters };
  for (const { name, code } of parts) all[`${name}_code`] = code;
  for (const { name, parameters } of parts)
    for (const [inner, value] of Object.entries(parameters))
      if (all[inner] !== value) all[inner in all ? `${name}_${inner}` : inner] = value;
  return all;
}

interface Filling {
  templateOf: (code: string | number | undefined) => string | undefined;
  /** Returns a value in the words of whoever reads it. */
  show: (value: string | number, name: string) => string;
}

/** The sentence of a template, with the sentences in it from their own templates. A part without one stays as it is. */
export const fillWithParts = (template: string, parameters: Parameters, filling: Filling): string =>
  fill(template, parameters, filling, []);

/** `around` are the parts that the template is in, the outermost first, with where they stand: none is in itself. */
function fill(
  template: string,
  parameters: Parameters,
  filling: Filling,
  around: readonly { name: string; key: string }[],
): string {
  return fillIn(template, parameters, (_, name) => {
    const path = around.map((part) => part.name);
    const key = listKeys(path, name).find((each) => parameters[each] !== undefined) ?? name;
    const part = around.some((each) => each.key === key) ? undefined : filling.templateOf(parameters[`${key}_code`]);
    if (part !== undefined) return fill(part, parameters, filling, [...around, { name, key }]);
    return filling.show(parameters[key] ?? "", name);
  });
}

/** Lists the keys under which a parameter may be, the likeliest first. */
const listKeys = ([part, ...inside]: readonly string[], name: string): string[] =>
  part === undefined ? [name] : listKeys(inside, name).flatMap((key) => [`${part}_${key}`, key]);
