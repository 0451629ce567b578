// Adds labels to a record and removes others, whatever else changes it meanwhile.
import { ClientError } from "../../../shared/api/client-of.ts";
import type { Labels } from "../../../shared/api/fields.ts";
import type { Sent } from "./batch.ts";

interface Versioned extends Pick<Sent, "rateLimit"> {
  data: { labels: Labels };
  etag: string | undefined;
}

/** The calls for one kind of record. */
export interface Labeled {
  get: (id: string) => Promise<Versioned>;
  set: (id: string, labels: Labels, ifMatch: string | undefined) => Promise<Versioned>;
}

interface Relabeling {
  add: Labels;
  remove: readonly string[];
}

const TRIES_MAX = 3;

export const relabeled = (labels: Labels, { add, remove }: Relabeling): Labels =>
  Object.fromEntries([...Object.entries(labels).filter(([key]) => !remove.includes(key)), ...Object.entries(add)]);

export const isSame = (some: Labels, others: Labels): boolean =>
  Object.keys(some).length === Object.keys(others).length && Object.entries(some).every(([key, value]) => others[key] === value);

/** A PUT sets the whole map: made from the version that it replaces, it keeps what others have changed. */
export async function relabel(of: Labeled, id: string, change: Relabeling): Promise<Sent> {
  for (let tries = 1; ; tries++) {
    const found = await of.get(id);
    const next = relabeled(found.data.labels, change);
    if (isSame(next, found.data.labels)) return { rateLimit: found.rateLimit };
    try {
      const { rateLimit } = await of.set(id, next, found.etag);
      return { rateLimit };
    } catch (error) {
      if (!(error instanceof ClientError && error.code === "PRECONDITION_FAILED") || tries === TRIES_MAX) throw error;
    }
  }
}
