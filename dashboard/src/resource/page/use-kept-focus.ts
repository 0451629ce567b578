// A button that goes away when it is pressed leaves the focus where it was, so that the keyboard goes on from there.
import { type RefObject, useEffect, useRef } from "react";

/** `but`: what has a place of its own for the focus. */
export function useKeptFocus(ref: RefObject<HTMLElement | null>, but = ":not(*)"): void {
  /** What has the focus, and what is around it. */
  const path = useRef<Element[]>([]);
  useEffect(() => {
    const box = ref.current;
    if (box === null) return undefined;
    const note = ({ target }: FocusEvent): void => {
      path.current = target instanceof Element && target.closest(but) === null ? pathTo(target, box) : [];
    };
    const observer = new MutationObserver(() => {
      const [focused, ...around] = path.current;
      if (focused === undefined || focused.isConnected || document.activeElement !== document.body) return;
      path.current = [];
      focusOn(around.find((each) => each.isConnected));
    });
    box.addEventListener("focusin", note);
    observer.observe(box, { childList: true, subtree: true });
    return () => {
      box.removeEventListener("focusin", note);
      observer.disconnect();
    };
  }, [ref, but]);
}

const pathTo = (element: Element, box: Element): Element[] =>
  element === box || element.parentElement === null ? [element] : [element, ...pathTo(element.parentElement, box)];

function focusOn(element: Element | undefined): void {
  if (!(element instanceof HTMLElement)) return;
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
}
