// What the page leaves out, because the user may not do it: the permissions and roles that this needs, however often.
import { useEffect } from "react";
import { createStore } from "../session/store.ts";

const counts = new Map<string, number>();
const needs = createStore<readonly string[]>([]);
export const useLeftOut = needs.use;

function count(need: string, by: 1 | -1): void {
  const before = counts.get(need) ?? 0;
  if (before + by > 0) counts.set(need, before + by);
  else counts.delete(need);
  if (before === 0 || before + by === 0) needs.set([...counts.keys()]);
}

/** Notes for the page what the part that calls this leaves out for want of; undefined: nothing. */
export function useNoteLeftOut(...missing: readonly (string | undefined)[]): void {
  const noted = [...new Set(missing)].filter((need) => need !== undefined).join(" ");
  useEffect(() => {
    const each = noted.split(" ").filter(Boolean);
    for (const need of each) count(need, 1);
    return () => {
      for (const need of each) count(need, -1);
    };
  }, [noted]);
}
