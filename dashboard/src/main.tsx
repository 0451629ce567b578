// The dashboard's entry: everything else loads from here, so that a missing file shows a message and not a blank page.
import { load, NOT_LOADED } from "./app/loading.ts";

// Both concurrently: the first page is known before any of its files arrives.
const first = () => (localStorage.getItem("session") === null ? import("./login/login.tsx") : import("./shell/shell.tsx"));
load(() => Promise.all([import("./start.tsx"), first()])).catch(() => {
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
