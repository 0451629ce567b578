// What versions from before 1.0.0 cannot read: one operation of a type that they do not know makes lists of operations respond
// 500. Bulk actions therefore leave the lists before such a version serves, and the first migration brings them back. Later
// versions read any type.
import * as z from "zod";
import { type Change, startChange } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { growing } from "../data/stored.ts";
import { ConditionFailed, queryAll } from "../data/table.ts";
import { isOpen, type OperationStatus } from "../domain/lifecycle.ts";

const BulkAction = z.looseObject({
  id: z.string(),
  number: z.string(),
  type: z.literal("bulk.run"),
  created_at: z.string(),
  state: growing<OperationStatus>(),
  resource: z.looseObject({ id: z.string() }),
});
type BulkAction = z.infer<typeof BulkAction>;

const bulkActionsIn = (items: readonly unknown[]): BulkAction[] => items.flatMap((item) => BulkAction.safeParse(item).data ?? []);

/**
 * Takes an account's bulk actions off its lists, without those in progress, whose IDs it returns. It may be killed anywhere and
 * run again.
 */
export async function setBulkActionsAside(accountId: string): Promise<string[]> {
  const listed = bulkActionsIn(await queryAll(keys.record("operation", accountId, "").pk, { consistent: true }));
  for (const record of listed.filter(({ state }) => !isOpen(state)))
    await move(accountId, (change) => {
      change.drop({ kind: "operation", record, status: record.state }, { equals: { state: record.state } });
      change.put(keys.operationAside(accountId, record.id), { record }); // its attributes as such would keep it in the indexes
    });
  return listed.flatMap(({ id, state }) => (isOpen(state) ? [id] : []));
}

/** Puts them on the lists again, where they were. */
export async function bringBulkActionsBack(accountId: string): Promise<void> {
  const aside = await queryAll(keys.operationsAside(accountId), { consistent: true });
  for (const record of bulkActionsIn(aside.map((item) => item["record"])))
    await move(accountId, (change) => {
      change.add("operation", record, { status: record.state, parentId: record.resource.id });
      change.remove(keys.operationAside(accountId, record.id), { exists: true });
    });
}

/** Another run of the same may have come first. */
async function move(accountId: string, write: (change: Change) => void): Promise<void> {
  const change = startChange({ id: accountId });
  write(change);
  await change.commit().catch((error: unknown) => {
    if (!(error instanceof ConditionFailed)) throw error;
  });
}
