// What the search does with an instance instead of opening it: "restart shop".
import type { DataOf } from "../../../shared/api/endpoint.ts";
import type { api } from "../../../shared/api/index.ts";
import { folded } from "../../../shared/domain/words.ts";
import { text } from "../messages/text.ts";

const ACTS = ["restart", "start", "stop", "back-up", "restore", "clone", "policy", "delete"] as const;
export type Act = (typeof ACTS)[number];

/** The action that typed words are, or begin or end with, and the words that are left; undefined without one. */
export function actIn(typed: string): { act: Act; rest: string } | undefined {
  const words = typed.split(/\s+/);
  const verbs = ACTS.flatMap((act) => text.shell.search.verbs[act].split("|").map((name) => ({ act, name }))).toSorted(
    (a, b) => b.name.length - a.name.length,
  ); // "neu starten" before "starten"
  for (const { act, name } of verbs) {
    const size = name.split(" ").length;
    const isVerb = (part: readonly string[]): boolean => folded(part.join(" ")) === folded(name);
    if (isVerb(words.slice(0, size))) return { act, rest: words.slice(size).join(" ") };
    if (isVerb(words.slice(-size))) return { act, rest: words.slice(0, -size).join(" ") };
  }
  return undefined;
}

/** The page of an instance, with the dialog of the action; a clone has a page of its own. */
export const actOption = (act: Act, { id, name, detail }: { id: string; name: string; detail: string | null }) => ({
  value: act === "clone" ? `/instances/${id}/clone` : `/instances/${id}?do=${act}`,
  label: text.shell.search.acts[act](name),
  ...(detail !== null && { description: detail }),
});

type Named = Pick<DataOf<typeof api.search.find>[number], "id" | "type" | "name">;

/**
 * What was found for all that was typed, and then for what is left of it beside the verb: "restore shop" may be a name. Whether
 * an instance has exactly that name, so that it comes before the actions.
 */
export function mergeFound<Found extends Named>(typed: string, matchesOfAll: readonly Found[], matchesOfRest: readonly Found[]) {
  const matches = [...new Map([...matchesOfAll, ...matchesOfRest].map((each) => [each.id, each])).values()];
  const isNamed = matchesOfAll.some(({ type, name }) => type === "instance" && folded(name) === folded(typed));
  return { matches, isNamed };
}
