// What lists of operations are filtered by beyond what has an index: a small item for each operation (81 bytes), written in the
// transaction that writes its record. A list that is filtered by type, actor or server reads all of an account.
import * as z from "zod";
import { bytesOfId, isId, timeOfId } from "../domain/ids.ts";
import { codeOfOperation, codeOfStatus, ENTRY_ATTRIBUTES } from "./codes.ts";
import { keys, type Item } from "./keys.ts";
import { put, remove, update, type Write } from "./writes.ts";

const { type: TYPE, actor: ACTOR, status: STATUS, about: ABOUT, created_after_id: LATE } = ENTRY_ATTRIBUTES;

const Ref = z.object({ type: z.string(), id: z.string() });
/** What says which instance or server an operation is about. */
export const About = z.object({ resource: Ref, holds: z.array(Ref).default([]), concerns: z.array(z.string()).default([]) });
type About = z.infer<typeof About>;

const Described = About.extend({
  id: z.string(),
  type: z.string(),
  created_at: z.string(),
  created_by: z.object({ id: z.string() }),
});

/** The instance that an operation is about: of one on a backup, the backup's. */
export const instanceOf = ({ resource, holds, concerns }: About): string | null =>
  [resource, ...holds].find(({ type }) => type === "instance")?.id ?? concerns.find((id) => isId("instance", id)) ?? null;

const ABOUT_BYTES = 5;

/**
 * The end of an ID: 40 random bits, so that one of 10,000 operations is taken for another instance's in one account of a million.
 */
export const endOf = (id: string): Buffer => bytesOfId(id).subarray(-ABOUT_BYTES);

/** What the entry of an operation says that it is about. Operations on the account are about nothing. */
export function aboutIn(record: About): Buffer | undefined {
  const id = instanceOf(record) ?? (record.resource.type === "server" ? record.resource.id : undefined);
  return id === undefined ? undefined : endOf(id);
}

/** An ID takes 16 bytes; others, such as `schedule`, are stored as their text. */
export const actorIn = (id: string): string | Uint8Array => (id.includes("_") ? bytesOfId(id) : id);

function buildEntry(record: Item, status: string | undefined): Item {
  const described = Described.parse(record);
  const { id, type, created_at, created_by } = described;
  const late = Date.parse(created_at) - timeOfId(id);
  const about = aboutIn(described);
  return {
    [TYPE]: codeOfOperation(type),
    [ACTOR]: actorIn(created_by.id),
    ...(status !== undefined && { [STATUS]: codeOfStatus(status) }),
    ...(about !== undefined && { [ABOUT]: about }),
    ...(late !== 0 && { [LATE]: late }),
  };
}

const entryKey = (accountId: string, id: string) => keys.entry("operation", accountId, id);

export const addedOperation = (accountId: string, record: Item & { id: string }, status: string | undefined): Write =>
  put(entryKey(accountId, record.id), buildEntry(record, status));

/** An operation from before there were entries gets none until the first migration has run: one without a type is no entry. */
export const movedOperation = (accountId: string, id: string, status: string): Write =>
  update(entryKey(accountId, id), { set: { [STATUS]: codeOfStatus(status) } }, { exists: false });

export const removedOperation = (accountId: string, id: string): Write => remove(entryKey(accountId, id), { exists: false });

/** The entry of a record from before; what a change has written meanwhile stays. */
export const completedOperation = (accountId: string, record: Item & { id: string }): Write =>
  update(entryKey(accountId, record.id), { fill: buildEntry(record, String(record["state"])) }, { exists: false });
