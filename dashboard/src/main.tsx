// The dashboard's entry: everything else loads from here, so that a missing file shows a message and not a blank page.
import { load } from "./app/loading.ts";
import { withAreas } from "./app/with-areas.ts";
import { loadComponentText } from "./messages/components.ts";
import { language } from "./messages/language.ts";
import { startText } from "./messages/start.ts";
import { loadText } from "./messages/text.ts";

document.documentElement.lang = language;
announceLoading();

const root = document.getElementById("root") ?? document.body;

/**
 * The pages that links in mails and an identity provider lead to, and the one that asks for a link: whoever is signed in may open
 * them, too.
 */
const LINKS = ["/accept-invitation", "/reset-password", "/forgot-password", "/sso"];

/**
 * The dashboard's own files, for those who have signed in. Loaded concurrently, so that all are known before any of them arrives.
 */
const prepare = () => Promise.all([import("./start.tsx"), loadText(), import("./shell/shell.tsx"), loadComponentText()]);

const loadFirstVisit = withAreas(() => import("./login/first-visit.tsx"), "login");

async function signIn(): Promise<() => void> {
  const [{ askToSignIn }] = await Promise.all([loadFirstVisit(), loadText()]);
  return askToSignIn(root, () => void prepare().catch(() => undefined)); // if it does not load, the start says so
}

let end = (): void => undefined;
load(async () => {
  if (localStorage.getItem("session") === null || LINKS.includes(window.location.pathname)) end = await signIn();
  const [{ start }] = await prepare();
  await start(root, end);
}).catch(() => {
  end();
  const [alert, title, text, again] = ["div", "h1", "p", "button"].map((name) => document.createElement(name));
  if (alert === undefined || title === undefined || text === undefined || again === undefined) return;
  alert.role = "alert";
  title.textContent = startText.notLoaded.title;
  text.textContent = startText.notLoaded.text;
  again.textContent = startText.reload;
  again.addEventListener("click", () => window.location.reload());
  alert.append(title, text, again);
  root.replaceChildren(alert);
});

/** index.html says it in English. */
function announceLoading(): void {
  const [paragraph, link] = [document.querySelector("#root > p"), document.querySelector("#root > p > a")];
  if (paragraph === null || link === null) return;
  const { before, link: reload, after } = startText.loading;
  link.textContent = reload;
  paragraph.replaceChildren(before, link, after);
}
