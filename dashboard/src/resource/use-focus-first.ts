// In a dialog the first field has the focus, so that the user can type at once.
import { type RefObject, useEffect } from "react";

/** Without `autoFocus`: the dialog would mistake the field for its opener, and return the focus to nothing. */
export function useFocusFirst(form: RefObject<HTMLFormElement | null>): void {
  useEffect(() => {
    if (!form.current?.closest('[role="dialog"]')) return;
    // The dialog records its opener in its own effect, after those of its content.
    queueMicrotask(() => form.current?.querySelector<HTMLElement>("input, textarea, button")?.focus());
  }, [form]);
}
