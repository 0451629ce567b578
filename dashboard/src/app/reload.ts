// Reloads the page, for what only a new page can do.

const keepers = new Set<() => void>();

/** Calls `keep` before the page reloads by itself, until the returned function is called. */
export function beforeReload(keep: () => void): () => void {
  keepers.add(keep);
  return () => keepers.delete(keep);
}

export function reload(): void {
  for (const keep of keepers) keep();
  window.location.reload();
}
