// Light or dark mode: the system's, until the user switches; the choice is remembered.
import { applyMode, Mode } from "@cloudscape-design/global-styles";
import { createStore } from "../session/store.ts";

const KEY = "mode";
const system = window.matchMedia("(prefers-color-scheme: dark)");
const dark = createStore(isDark());

export function startMode(): void {
  system.addEventListener("change", apply);
  window.addEventListener("storage", apply);
  apply();
}

export const useDark = dark.use;

/** A choice that equals the system's is forgotten, so that the page follows the system again. */
export function switchMode(): void {
  const next = !isDark();
  if (next === system.matches) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next ? "dark" : "light");
  apply();
}

function isDark(): boolean {
  const chosen = localStorage.getItem(KEY);
  return chosen === null ? system.matches : chosen === "dark";
}

function apply(): void {
  applyMode(isDark() ? Mode.Dark : Mode.Light);
  dark.set(isDark());
}
