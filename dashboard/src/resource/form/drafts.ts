// Form values at the end of a session, and when the page reloads by itself: the same user finds them again. Another reload
// forgets them.
import { endingOf, session } from "../../session/session.ts";
import { withoutSecrets } from "./secrets.ts";

interface Draft {
  owner: string;
  values: object;
}

const KEY = "drafts";
const drafts = new Map(stored());

/** A user who signs out wants nothing to stay. */
export const endedByItself = (): boolean => endingOf() === "ended" || endingOf() === "expired";

export function saveDraft(key: string, owner: string | undefined, typed: object): void {
  const values = withoutSecrets(typed);
  if (owner === undefined || Object.keys(values).length === 0) return;
  drafts.set(key, { owner, values });
}

/** Returns the draft only if it is the same user's. */
export const draftOf = (key: string): object => {
  const draft = drafts.get(key);
  return draft !== undefined && draft.owner === session()?.user.id ? draft.values : {};
};

export const removeDraft = (key: string): void => void drafts.delete(key);

/** Stores the drafts for the next page in this tab. */
export const storeDrafts = (): void => sessionStorage.setItem(KEY, JSON.stringify([...drafts]));

function stored(): [string, Draft][] {
  const entries: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
  sessionStorage.removeItem(KEY);
  return Array.isArray(entries) ? entries.filter(isEntry) : [];
}

function isEntry(value: unknown): value is [string, Draft] {
  if (!Array.isArray(value)) return false;
  const [key, draft]: unknown[] = value;
  return (
    typeof key === "string" &&
    typeof draft === "object" &&
    draft !== null &&
    "owner" in draft &&
    typeof draft.owner === "string" &&
    "values" in draft &&
    typeof draft.values === "object" &&
    draft.values !== null
  );
}
