// Who is signed in: the one secret that the browser keeps, until sign-out or its end, shared by all tabs.
import type { DataOf } from "../../../shared/api/endpoint.ts";
import type { api } from "../../../shared/api/index.ts";
import { serviceNow } from "./clock.ts";
import { hasTexts } from "./has-texts.ts";
import { createStore } from "./store.ts";

/** The session as it started, and when it ends by this browser's clock, which may be wrong. */
type Session = DataOf<typeof api.auth.login> & { ends?: number };

/** Why nobody is signed in any more, for the sign-in page. */
export type Ending = "logged-out" | "logged-out-here" | "ended" | "expired";

const KEY = "session";
const store = createStore<{ session: Session | undefined; ending: Ending | undefined }>({ session: stored(), ending: undefined });

export const session = (): Session | undefined => store.get().session;
export const endingOf = (): Ending | undefined => store.get().ending;
/** Calls the listener when the session starts or ends. */
export const { subscribe } = store;

export function beginSession(newSession: DataOf<typeof api.auth.login>): void {
  const next = { ...newSession, ends: Date.now() + Date.parse(newSession.expires_at) - serviceNow() };
  localStorage.setItem(KEY, JSON.stringify(next));
  store.set({ session: next, ending: undefined });
}

/** Returns the end in milliseconds of this browser's clock. */
export function endOf({ ends, expires_at }: Session): number {
  return ends ?? Date.parse(expires_at);
}

/** Notes that the user has changed their name; other tabs show it with their next session. */
export function renameSessionUser(name: string): void {
  const { session: current, ending } = store.get();
  if (current === undefined) return;
  const next = { ...current, user: { ...current.user, name } };
  localStorage.setItem(KEY, JSON.stringify(next));
  store.set({ session: next, ending });
}

export function endSession(ending: Ending): void {
  const storedSession = stored();
  // A tab that was frozen meanwhile ends its own session, not the one that another tab has begun since.
  if (storedSession !== undefined && storedSession.token !== session()?.token)
    return store.set({ session: storedSession, ending: undefined });
  localStorage.removeItem(KEY);
  store.set({ session: undefined, ending });
}

/** The session; renders again when it starts or ends, in any tab. */
export const useSession = (): Session | undefined => store.use().session;

/** Why there is no session: a 401 during a sign-out knows less than the sign-out. */
export const useEnding = (): Ending | undefined => store.use().ending;

/** The stored value may come from an earlier version, or be anything: then nobody is signed in. */
function stored(): Session | undefined {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return isSession(value) && endOf(value) > Date.now() ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isSession(value: unknown): value is Session {
  return (
    hasTexts(value, "token", "expires_at") &&
    "user" in value &&
    hasTexts(value.user, "id", "email", "name") &&
    (!("ends" in value) || typeof value.ends === "number") &&
    !Number.isNaN(Date.parse(value.expires_at))
  );
}

/** Takes over what another tab has stored. */
function follow(): void {
  const next = stored();
  if (next?.token !== session()?.token) store.set({ session: next, ending: next === undefined ? "ended" : undefined });
}

window.addEventListener("storage", ({ key }) => {
  if (key === KEY || key === null) follow();
});
// A page that the browser kept for its back button has missed such events.
window.addEventListener("pageshow", ({ persisted }) => {
  if (persisted) follow();
});

/**
 * Calls the listener when the user is signed out, or is followed by another one, as in a tab that slept through a sign-out and a
 * sign-in.
 */
export function onOtherUser(listener: () => void): void {
  let user = session()?.user.id;
  subscribe(() => {
    const before = user;
    user = session()?.user.id;
    if (user !== before && before !== undefined) listener();
  });
}
