// Looks up records by their IDs: those that a page asks for at the same moment are one request.
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";

type Waiting<T> = Map<string, PromiseWithResolvers<T | null>>;

/** Looks up records by `?ids=`; null for those that don't exist. */
export function byIds<T extends { id: string }>(
  list: (query: { ids: string }) => Promise<{ data: T[] }>,
): (id: string) => Promise<T | null> {
  let waiting: Waiting<T> = new Map();
  const fetchAll = async (): Promise<void> => {
    const batch = waiting;
    waiting = new Map();
    const ids = [...batch.keys()];
    for (let from = 0; from < ids.length; from += PER_PAGE_MAX) {
      const some = ids.slice(from, from + PER_PAGE_MAX);
      try {
        const { data } = await list({ ids: some.join(",") });
        for (const id of some) batch.get(id)?.resolve(data.find((each) => each.id === id) ?? null);
      } catch (error) {
        for (const id of some) batch.get(id)?.reject(error);
      }
    }
  };
  return async (id) => {
    if (waiting.size === 0) setTimeout(() => void fetchAll());
    const pending = waiting.get(id) ?? Promise.withResolvers<T | null>();
    waiting.set(id, pending);
    return pending.promise;
  };
}
