// The uploads that this browser has begun and not finished: the API has no list of them. By them, a file that is chosen again
// continues.
import * as z from "zod";
import { serviceNow } from "../session/clock.ts";
import { session } from "../session/session.ts";

const Unfinished = z.array(
  z.object({
    id: z.string(),
    user_id: z.string(),
    name: z.string(),
    size_bytes: z.number(),
    modified: z.number(),
    expires_at: z.string(),
  }),
);
export type Unfinished = z.infer<typeof Unfinished>[number];

const KEY = "uploads";

/** What is stored may come from another version, or be anything. */
function stored(): Unfinished[] {
  try {
    return Unfinished.safeParse(JSON.parse(localStorage.getItem(KEY) ?? "[]")).data ?? [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

const store = (all: readonly Unfinished[]): void => localStorage.setItem(KEY, JSON.stringify(all));

/** Uploads of the user who is signed in. */
export const unfinished = (): Unfinished[] =>
  stored().filter(({ user_id, expires_at }) => user_id === session()?.user.id && Date.parse(expires_at) > serviceNow());

/** The upload that a file belongs to: its parts are compared by their checksums, so a mistake costs time and nothing else. */
export const unfinishedOf = ({ name, size, lastModified }: File): Unfinished | undefined =>
  unfinished().find((each) => each.name === name && each.size_bytes === size && each.modified === lastModified);

export function storeUnfinished(
  { name, size, lastModified }: File,
  { id, expires_at }: { id: string; expires_at: string },
): void {
  const user_id = session()?.user.id ?? "";
  store([
    ...stored().filter((each) => each.id !== id),
    { id, user_id, name, size_bytes: size, modified: lastModified, expires_at },
  ]);
}

export const removeUnfinished = (id: string): void => store(stored().filter((each) => each.id !== id));
