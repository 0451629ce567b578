// After signing in, a user goes to the page that they asked for.

/** Rejects `//example.com`, which a browser takes for another host. */
const isOurs = (path: string): boolean =>
  path.startsWith("/") && URL.parse(path, window.location.origin)?.origin === window.location.origin;

/** The path in a router's state, if it is one of ours. */
export function wayBackIn(state: unknown): string {
  const from: unknown = typeof state === "object" && state !== null && "from" in state ? state.from : undefined;
  return typeof from === "string" && isOurs(from) ? from : "/";
}
