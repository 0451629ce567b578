// The sign-in page of a visit without a session: alone, so that it is there soon. What follows loads as soon as the user types.
import "../app/page.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { loadDeployment } from "../app/deployment.ts";
import { EnvironmentBanner } from "../app/environment.tsx";
import { startMode } from "../app/mode.ts";
import { session, subscribe } from "../session/session.ts";
import Login from "./login.tsx";
import { LINK_PAGES } from "./link-pages.tsx";
import { wayBackIn } from "./way-back.ts";

const PATH = "/login";

/** Resolves once somebody has signed in, in this tab or another, with what removes the page. */
export async function askToSignIn(root: HTMLElement, prepare: () => void): Promise<() => void> {
  const { pathname, search } = window.location;
  const LinkPage = LINK_PAGES[pathname];
  // The router would have stored the same state.
  if (LinkPage === undefined && pathname !== PATH)
    window.history.replaceState({ usr: { from: `${pathname}${search}` } }, "", PATH);
  startMode();
  await loadDeployment();
  const rendered = createRoot(root);
  rendered.render(
    <StrictMode>
      <EnvironmentBanner />
      {LinkPage === undefined ? <Login onTyping={prepare} /> : <LinkPage />}
    </StrictMode>,
  );
  await signedIn(LinkPage !== undefined);
  const stored: unknown = window.history.state;
  const state = typeof stored === "object" && stored !== null && "usr" in stored ? stored.usr : undefined;
  window.history.replaceState(null, "", wayBackIn(state));
  return () => rendered.unmount();
}

/** `again`: also whoever is signed in already. */
const signedIn = (again: boolean): Promise<void> =>
  new Promise((resolve) => {
    const before = again ? session()?.token : undefined;
    if (!again && session() !== undefined) return resolve();
    const stop = subscribe(() => {
      if (session() === undefined || session()?.token === before) return;
      stop();
      resolve();
    });
  });
