// The parent pages of the current one: the page sets them, the shell shows them as breadcrumbs.
import { useEffect } from "react";
import { text } from "../messages/text.ts";
import { createStore } from "../session/store.ts";

export interface Step {
  text: string;
  href: string;
}

const trail = createStore<readonly Step[]>([]);

/** Set by a page while it is shown. */
export function useTrail(above: readonly Step[], title: string): void {
  const steps = JSON.stringify(above);
  useEffect(() => {
    const home = { text: text.app.home, href: "/" };
    trail.set(title === home.text ? [] : [home, ...above, { text: title, href: "" }]);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the same steps may be another array
  }, [steps, title]);
}

export const useShownTrail = trail.use;
