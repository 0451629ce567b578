// In a dialog the first field has the focus, so that the user can type or choose at once.
import { type RefObject, useEffect } from "react";

/** Works without `autoFocus`: the dialog would mistake the field for its opener, and return the focus to nothing. */
export function useFocusFirst(form: RefObject<HTMLFormElement | null>): void {
  useEffect(() => {
    if (!form.current?.closest('[role="dialog"]')) return;
    // The dialog records its opener in its own effect, after those of its content.
    queueMicrotask(() => firstIn(form.current)?.focus());
  }, [form]);
}

/** Returns the first field; for radio buttons, the chosen one, as with the Tab key. */
function firstIn(form: HTMLFormElement | null): HTMLElement | null | undefined {
  const first = form?.querySelector<HTMLElement>("input, textarea, button");
  if (!(first instanceof HTMLInputElement) || first.type !== "radio") return first;
  return form?.querySelector<HTMLElement>(`input[name="${CSS.escape(first.name)}"]:checked`) ?? first;
}
