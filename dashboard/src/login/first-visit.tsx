// The sign-in page of a visit without a session: alone, so that it is there soon. What follows loads as soon as the user types.
import "../app/page.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { loadDeployment } from "../app/deployment.ts";
import { EnvironmentBanner } from "../app/environment.tsx";
import { startMode } from "../app/mode.ts";
import { session, subscribe } from "../session/session.ts";
import Login from "./login.tsx";
import { wayBackIn } from "./way-back.ts";

const PATH = "/login";

/** Resolves once somebody has signed in, in this tab or another, with what removes the page. */
export async function askToSignIn(root: HTMLElement, prepare: () => void): Promise<() => void> {
  const { pathname, search } = window.location;
  // As the router would have stored it.
  if (pathname !== PATH) window.history.replaceState({ usr: { from: `${pathname}${search}` } }, "", PATH);
  startMode();
  await loadDeployment();
  const shown = createRoot(root);
  shown.render(
    <StrictMode>
      <EnvironmentBanner />
      <Login onTyping={prepare} />
    </StrictMode>,
  );
  await signedIn();
  const stored: unknown = window.history.state;
  const state = typeof stored === "object" && stored !== null && "usr" in stored ? stored.usr : undefined;
  window.history.replaceState(null, "", wayBackIn(state));
  return () => shown.unmount();
}

const signedIn = (): Promise<void> =>
  new Promise((resolve) => {
    if (session() !== undefined) return resolve();
    const stop = subscribe(() => {
      if (session() === undefined) return;
      stop();
      resolve();
    });
  });
