// In a dialog the first field has the focus, so that one may type at once.
import { type RefObject, useEffect } from "react";

/** Not by `autoFocus`: the dialog would take the field for what opened it, and give the focus back to nothing. */
export function useFocusFirst(form: RefObject<HTMLFormElement | null>): void {
  useEffect(() => {
    if (!form.current?.closest('[role="dialog"]')) return;
    // The dialog notes what opened it in an effect of its own, after those of what is in it.
    queueMicrotask(() => form.current?.querySelector<HTMLElement>("input, textarea, button")?.focus());
  }, [form]);
}
