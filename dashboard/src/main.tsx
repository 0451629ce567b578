// The dashboard's entry: everything else loads from here, so that a missing file shows a message and not a blank page.
import { load, NOT_LOADED } from "./app/loading.ts";

// Concurrently with the start, so that the first page is known before any of its files arrives. If it does not load, the start says so,
// which asks for it again: two messages would stand below each other.
const first = () => (localStorage.getItem("session") === null ? import("./login/login.tsx") : import("./shell/shell.tsx"));
first().catch(() => undefined);
load(() => import("./start.tsx")).catch(() => {
  const [alert, title, text, again] = ["div", "h1", "p", "button"].map((name) => document.createElement(name));
  if (alert === undefined || title === undefined || text === undefined || again === undefined) return;
  alert.role = "alert";
  title.textContent = NOT_LOADED.title;
  text.textContent = NOT_LOADED.text;
  again.textContent = "Reload";
  again.addEventListener("click", () => window.location.reload());
  alert.append(title, text, again);
  document.getElementById("root")?.replaceChildren(alert);
});
