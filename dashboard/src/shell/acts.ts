// What the search does with an instance instead of opening it: "restart shop".
import { text } from "../messages/text.ts";

type Act = keyof typeof text.shell.search.verbs;

const isAct = (name: string): name is Act => Object.hasOwn(text.shell.search.verbs, name);

/** The action that typed words begin or end with, and the words that are left; undefined without either. */
export function actIn(typed: string): { act: Act; rest: string } | undefined {
  const words = typed.toLowerCase();
  const verbs = Object.entries(text.shell.search.verbs)
    .flatMap(([act, names]) => names.map((name) => ({ act, name })))
    .toSorted((a, b) => b.name.length - a.name.length); // "neu starten" before "starten"
  for (const { act, name } of verbs) {
    if (!isAct(act)) continue;
    if (words.startsWith(`${name} `)) return { act, rest: typed.slice(name.length).trim() };
    if (words.endsWith(` ${name}`)) return { act, rest: typed.slice(0, -name.length).trim() };
  }
  return undefined;
}

/** The page of an instance, with the dialog of the action. */
export const actOption = (act: Act, { id, name, detail }: { id: string; name: string; detail: string | null }) => ({
  value: `/instances/${id}?do=${act}`,
  label: text.shell.search.acts[act](name),
  ...(detail !== null && { description: detail }),
});
