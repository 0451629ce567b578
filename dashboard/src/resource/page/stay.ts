// Keeps the user on a page that would lose something.
import { useCallback, useEffect } from "react";
import { useBeforeUnload, useBlocker } from "react-router";

/** Keeps the user on the page while a request is pending whose response has a secret, which would be lost without the page. */
export function StayOnPage() {
  useStayUntil(false, stay);
  return null;
}

const stay = () => undefined;

/** Neither the Back button nor closing the tab loses it without a warning. */
export function useStayUntil(free: boolean, onLeaving: () => void): void {
  const blocker = useBlocker(!free);
  useEffect(() => {
    if (blocker.state !== "blocked") return;
    blocker.reset();
    onLeaving();
  });
  useBeforeUnload(
    useCallback(
      (event) => {
        if (!free) event.preventDefault();
      },
      [free],
    ),
  );
}
