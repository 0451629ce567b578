// Who is signed in: the one secret that the browser keeps, until sign-out or its end, shared by all tabs.
import { useSyncExternalStore } from "react";
import * as z from "zod";
import { api } from "../../../shared/api/index.ts";
import type { DataOf } from "../../../shared/api/endpoint.ts";
import { serviceNow } from "./clock.ts";

/** The session as it started, and when it ends by this browser's clock, which may be wrong. */
const Session = api.auth.login.data.extend({ ends: z.number().optional() });
type Session = z.infer<typeof Session>;

/** Why nobody is signed in any more, for the sign-in page. */
export type Ending = "logged-out" | "logged-out-here" | "ended" | "expired";

const KEY = "session";
const listeners = new Set<() => void>();
let current = stored();
let ending: Ending | undefined;

export const session = (): Session | undefined => current;
export const endingOf = (): Ending | undefined => ending;

export function beginSession(begun: DataOf<typeof api.auth.login>): void {
  const next = { ...begun, ends: Date.now() + Date.parse(begun.expires_at) - serviceNow() };
  localStorage.setItem(KEY, JSON.stringify(next));
  become(next, undefined);
}

/** In milliseconds of this browser's clock. */
export function endOf({ ends, expires_at }: Session): number {
  return ends ?? Date.parse(expires_at);
}

export function endSession(why: Ending): void {
  localStorage.removeItem(KEY);
  become(undefined, why);
}

/** The session; renders again when it starts or ends, in any tab. */
export const useSession = (): Session | undefined => useSyncExternalStore(subscribe, session);

/** Why there is no session: a 401 during a sign-out knows less than the sign-out. */
export const useEnding = (): Ending | undefined => useSyncExternalStore(subscribe, endingOf);

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function become(next: Session | undefined, why: Ending | undefined): void {
  current = next;
  ending = why;
  for (const listener of listeners) listener();
}

/** The stored value may come from an earlier version, or be anything: then nobody is signed in. */
function stored(): Session | undefined {
  try {
    const found = Session.safeParse(JSON.parse(localStorage.getItem(KEY) ?? "null"));
    return found.success && endOf(found.data) > Date.now() ? found.data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

window.addEventListener("storage", ({ key }) => {
  if (key !== KEY && key !== null) return;
  const next = stored();
  if (next?.token !== current?.token) become(next, next === undefined ? "ended" : undefined);
});
