// The parent pages of the current one: the page sets them, the shell shows them as breadcrumbs.
import { useEffect } from "react";
import { createStore } from "../session/store.ts";

export interface Step {
  text: string;
  href: string;
}

const HOME: Step = { text: "Home", href: "/" };
const trail = createStore<readonly Step[]>([]);

/** Set by a page while it is shown; `above` is the same value in every rendering. */
export function useTrail(above: readonly Step[], title: string): void {
  useEffect(() => {
    trail.set(title === HOME.text ? [] : [HOME, ...above, { text: title, href: "" }]);
  }, [above, title]);
}

export const useShownTrail = trail.use;
