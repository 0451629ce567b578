// Light or dark mode: the system's, until the user switches; the choice is remembered.
import { applyMode, Mode } from "@cloudscape-design/global-styles";
import { useSyncExternalStore } from "react";

const KEY = "mode";
const system = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

export function startMode(): void {
  system.addEventListener("change", apply);
  window.addEventListener("storage", apply);
  apply();
}

export const useDark = (): boolean => useSyncExternalStore(subscribe, isDark);

/** A choice that equals the system's is forgotten, so that the page follows the system again. */
export function switchMode(): void {
  const dark = !isDark();
  if (dark === system.matches) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, dark ? "dark" : "light");
  apply();
}

function isDark(): boolean {
  const chosen = localStorage.getItem(KEY);
  return chosen === null ? system.matches : chosen === "dark";
}

function apply(): void {
  applyMode(isDark() ? Mode.Dark : Mode.Light);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
