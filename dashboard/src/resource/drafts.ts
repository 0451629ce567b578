// Form values at the end of a session: the same user finds them again, as long as the page does not reload.
import { endingOf, session } from "../session/session.ts";

interface Draft {
  owner: string;
  values: object;
}

const drafts = new Map<string, Draft>();

/** Only for sessions that ended by themselves: a user who signs out wants nothing to stay. Passwords are never kept. */
export function keepDraft(key: string, owner: string | undefined, values: object): void {
  const ending = endingOf();
  if (owner === undefined || (ending !== "ended" && ending !== "expired")) return;
  drafts.set(key, { owner, values: Object.fromEntries(Object.entries(values).filter(([name]) => !/password/.test(name))) });
}

/** Only the same user's. */
export const draftOf = (key: string): object => {
  const draft = drafts.get(key);
  return draft !== undefined && draft.owner === session()?.user.id ? draft.values : {};
};

export const dropDraft = (key: string): void => void drafts.delete(key);
