// Whether the page is as narrow as a phone's.
import { useSyncExternalStore } from "react";

const narrow = window.matchMedia("(max-width: 688px)");

export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches);

function subscribe(listener: () => void): () => void {
  narrow.addEventListener("change", listener);
  return () => narrow.removeEventListener("change", listener);
}
