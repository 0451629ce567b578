// Keeps what is shown, with what the user has typed into it, when what it was shown for changes.
import { useState } from "react";

/** Whether the condition is true, or was. */
export function useWasEver(condition: boolean): boolean {
  const [ever, setEver] = useState(condition);
  if (condition && !ever) setEver(true);
  return ever || condition;
}
