// Parts of the dashboard in separate files: one that fails to load is retried once automatically, and then shown as a network
// error.
import { reload } from "./reload.ts";
import { MINUTE_MS } from "../../../shared/domain/durations.ts";

export class NotLoaded extends Error {
  override name = "NotLoaded";
}

const KEY = "reloaded";
const RETRY_AFTER_MS = 1_000;
/** A page that reloaded this recently does not reload automatically again. */
const ONCE_IN_MS = MINUTE_MS;

export async function load<T>(part: () => Promise<T>): Promise<T> {
  try {
    return await part();
  } catch (cause) {
    if (cause instanceof NotLoaded) throw cause; // a part of this one, which has been tried again
    if (await canReload()) {
      // Browsers remember that a module failed to load: only a new page requests it again, under its current name.
      sessionStorage.setItem(KEY, JSON.stringify({ path: window.location.pathname, at: Date.now() }));
      reload();
      return new Promise<T>(() => undefined);
    }
    throw new NotLoaded("A file could not be loaded", { cause });
  }
}

/** If the service is down, a reload would show the browser's own error page. */
async function canReload(): Promise<boolean> {
  if (wasReloaded()) return false;
  await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_MS));
  return isServed();
}

/** Whether the dashboard's own files can be fetched. */
export const isServed = (): Promise<boolean> =>
  fetch(window.location.href, { cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );

function wasReloaded(): boolean {
  const last: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  if (typeof last !== "object" || last === null || !("path" in last) || !("at" in last)) return false;
  return last.path === window.location.pathname && Math.abs(Date.now() - Number(last.at)) < ONCE_IN_MS;
}
