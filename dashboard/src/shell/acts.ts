// What the search does with an instance instead of opening it: "restart shop".
import { text } from "../messages/text.ts";

const ACTS = ["restart", "start", "stop", "back-up", "restore", "clone", "policy", "delete"] as const;
export type Act = (typeof ACTS)[number];

/** The action that typed words are, or begin or end with, and the words that are left; undefined without one. */
export function actIn(typed: string): { act: Act; rest: string } | undefined {
  const words = typed.toLowerCase();
  const verbs = ACTS.flatMap((act) => text.shell.search.verbs[act].split("|").map((name) => ({ act, name }))).toSorted(
    (a, b) => b.name.length - a.name.length,
  ); // "neu starten" before "starten"
  for (const { act, name } of verbs) {
    if (words === name) return { act, rest: "" };
    if (words.startsWith(`${name} `)) return { act, rest: typed.slice(name.length).trim() };
    if (words.endsWith(` ${name}`)) return { act, rest: typed.slice(0, -name.length).trim() };
  }
  return undefined;
}

/** The page of an instance, with the dialog of the action; a clone has a page of its own. */
export const actOption = (act: Act, { id, name, detail }: { id: string; name: string; detail: string | null }) => ({
  value: act === "clone" ? `/instances/${id}/clone` : `/instances/${id}?do=${act}`,
  label: text.shell.search.acts[act](name),
  ...(detail !== null && { description: detail }),
});
