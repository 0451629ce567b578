// When the focused row goes away, the focus moves to the row that takes its place; anything else that goes away leaves it there.
import { type RefObject, useEffect, useRef } from "react";
import { useKeptFocus } from "../page/use-kept-focus.ts";

const ROWS = "tbody tr, .card";
const FOCUS_POLL_MS = 50;

export function useFocusNext(items: unknown): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  useKeptFocus(box, ROWS);
  const last = useRef<{ row: Element; index: number } | undefined>(undefined);
  useEffect(() => {
    const list = box.current;
    const note = ({ target }: FocusEvent): void => {
      const row = target instanceof Element ? target.closest(ROWS) : null;
      last.current = row === null ? undefined : { row, index: rowsIn(list).indexOf(row) };
    };
    list?.addEventListener("focusin", note);
    return () => list?.removeEventListener("focusin", note);
  }, []);
  useEffect(() => {
    const lost = last.current;
    if (lost === undefined || lost.row.isConnected) return undefined;
    // A dialog about the row may still be closing; it then looks for the button that opened it.
    const timer = setInterval(() => {
      if (document.querySelector('[role="dialog"]') !== null) return;
      clearInterval(timer);
      last.current = undefined;
      if (document.activeElement === document.body) focusIn(box.current, lost.index);
    }, FOCUS_POLL_MS);
    return () => clearInterval(timer);
  }, [items]);
  return box;
}

const rowsIn = (list: Element | null): Element[] => [...(list?.querySelectorAll(ROWS) ?? [])];

function focusIn(list: Element | null, index: number): void {
  const rows = rowsIn(list);
  const next = rows[Math.min(index, rows.length - 1)]?.querySelector<HTMLElement>("a, button");
  (next ?? list?.querySelector<HTMLElement>("button"))?.focus();
}
