// The parent pages of the current one: the page sets them, the shell shows them as breadcrumbs.
import { useEffect, useSyncExternalStore } from "react";

export interface Step {
  text: string;
  href: string;
}

const HOME: Step = { text: "Home", href: "/" };
let trail: readonly Step[] = [];
const listeners = new Set<() => void>();

/** Set by a page while it is shown; `above` is the same value in every rendering. */
export function useTrail(above: readonly Step[], title: string): void {
  useEffect(() => {
    tell(title === HOME.text ? [] : [HOME, ...above, { text: title, href: "" }]);
  }, [above, title]);
}

export const useShownTrail = (): readonly Step[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => trail,
  );

function tell(next: readonly Step[]): void {
  trail = next;
  for (const listener of listeners) listener();
}
