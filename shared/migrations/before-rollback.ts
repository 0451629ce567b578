// What versions from before 1.0.0 cannot read: one operation or backup of a kind that they do not know makes lists respond 500.
// Such operations therefore leave the lists before such a version serves, and such backups get a kind that it knows; the first
// migration brings both back. Later versions read any kind.
import * as z from "zod";
import { type Change, startChange, tryCommit } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { openEnum } from "../data/stored.ts";
import { queryAll, updateOne } from "../data/table.ts";
import { isOpen, type OperationStatus } from "../domain/lifecycle.ts";
import { linkOperation } from "../records/operations.ts";

const KNOWN_OPERATIONS: readonly string[] = [
  "server.create",
  "server.delete",
  "instance.create",
  "instance.update",
  "instance.clone",
  "instance.start",
  "instance.stop",
  "instance.restart",
  "instance.delete",
  "backup.create",
  "backup.import",
  "backup.delete",
  "backup.drill",
  "backup.restore",
];
const KNOWN_BACKUPS: readonly string[] = ["manual", "pre_restore", "scheduled", "uploaded"];
/** The kind that backups of unknown kinds get: it is also taken by itself before something else, and removed as late. */
const INSTEAD = "pre_restore";

const NewOperation = z.looseObject({
  id: z.string(),
  number: z.string(),
  type: z.string().refine((type) => !KNOWN_OPERATIONS.includes(type)),
  created_at: z.string(),
  state: openEnum<OperationStatus>(),
  resource: z.looseObject({ id: z.string() }),
  concerns: z.array(z.string()).default([]),
});
type NewOperation = z.infer<typeof NewOperation>;

const newOperationsIn = (items: readonly unknown[]): NewOperation[] =>
  items.flatMap((item) => NewOperation.safeParse(item).data ?? []);

const Backup = z.looseObject({ id: z.string(), kind: z.string(), kind_aside: z.string().optional() });

const backupsOf = async (accountId: string): Promise<z.infer<typeof Backup>[]> =>
  (await queryAll(keys.record("backup", accountId, "").pk, { consistent: true })).flatMap(
    (item) => Backup.safeParse(item).data ?? [],
  );

/**
 * Makes an account readable for such versions, but for its new kinds of operations in progress, whose IDs it returns. It may be
 * killed anywhere and run again.
 */
export async function setNewKindsAside(accountId: string): Promise<string[]> {
  const listed = newOperationsIn(await queryAll(keys.record("operation", accountId, "").pk, { consistent: true }));
  for (const record of listed.filter(({ state }) => !isOpen(state)))
    await move(accountId, (change) => {
      change.removeListed({ kind: "operation", record, status: record.state }, { equals: { state: record.state } });
      for (const concerned of record.concerns)
        change.remove(keys.operationOf(accountId, concerned, record.id), { exists: false });
      change.put(keys.operationAside(accountId, record.id), { record }); // its attributes as such would keep it in the indexes
    });
  for (const { id, kind } of await backupsOf(accountId))
    if (!KNOWN_BACKUPS.includes(kind))
      await updateOne(keys.record("backup", accountId, id), { set: { kind: INSTEAD, kind_aside: kind } }, { equals: { kind } });
  return listed.flatMap(({ id, state }) => (isOpen(state) ? [id] : []));
}

/** Makes everything what it was. */
export async function bringNewKindsBack(accountId: string): Promise<void> {
  const aside = await queryAll(keys.operationsAside(accountId), { consistent: true });
  for (const record of newOperationsIn(aside.map((item) => item["record"])))
    await move(accountId, (change) => {
      change.add("operation", record, { status: record.state, parentId: record.resource.id });
      for (const concerned of record.concerns) linkOperation(change, concerned, record);
      change.remove(keys.operationAside(accountId, record.id), { exists: true });
    });
  for (const { id, kind_aside } of await backupsOf(accountId))
    if (kind_aside !== undefined)
      await updateOne(
        keys.record("backup", accountId, id),
        { set: { kind: kind_aside }, remove: ["kind_aside"] },
        { equals: { kind_aside } },
      );
}

/** Another run of the same may have come first. */
async function move(accountId: string, write: (change: Change) => void): Promise<void> {
  const change = startChange({ id: accountId });
  write(change);
  await tryCommit(change);
}
