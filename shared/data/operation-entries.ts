// What lists of operations are filtered by beyond what has an index: a small item for each operation (75 bytes), written in the
// transaction that writes its record. A list that is filtered by type or actor reads all of an account.
import * as z from "zod";
import { bytesOfId, timeOfId } from "../domain/ids.ts";
import { codeOfOperation, codeOfStatus, ENTRY_ATTRIBUTES } from "./codes.ts";
import { keys, type Item } from "./keys.ts";
import { put, remove, update, type Write } from "./writes.ts";

const { type: TYPE, actor: ACTOR, status: STATUS, created_after_id: LATE } = ENTRY_ATTRIBUTES;

const Described = z.object({
  id: z.string(),
  type: z.string(),
  created_at: z.string(),
  created_by: z.object({ id: z.string() }),
});

/** An ID takes 16 bytes; others, such as `schedule`, are stored as their text. */
export const actorIn = (id: string): string | Uint8Array => (id.includes("_") ? bytesOfId(id) : id);

function buildEntry(record: Item, status: string | undefined): Item {
  const { id, type, created_at, created_by } = Described.parse(record);
  const late = Date.parse(created_at) - timeOfId(id);
  return {
    [TYPE]: codeOfOperation(type),
    [ACTOR]: actorIn(created_by.id),
    ...(status !== undefined && { [STATUS]: codeOfStatus(status) }),
    ...(late !== 0 && { [LATE]: late }),
  };
}

const entryKey = (accountId: string, id: string) => keys.entry("operation", accountId, id);

export const addedOperation = (accountId: string, record: Item & { id: string }, status: string | undefined): Write =>
  put(entryKey(accountId, record.id), buildEntry(record, status));

/** An operation from before there were entries gets none until the first migration has run: one without a type is no entry. */
export const movedOperation = (accountId: string, id: string, status: string): Write =>
  update(entryKey(accountId, id), { set: { [STATUS]: codeOfStatus(status) } }, { exists: false });

export const droppedOperation = (accountId: string, id: string): Write => remove(entryKey(accountId, id), { exists: false });

/** The entry of a record from before; what a change has written meanwhile stays. */
export const completedOperation = (accountId: string, record: Item & { id: string }): Write =>
  update(entryKey(accountId, record.id), { fill: buildEntry(record, String(record["state"])) }, { exists: false });
