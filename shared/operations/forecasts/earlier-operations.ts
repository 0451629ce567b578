// What an instance's backups and its last operations let a dry run estimate.
import { listChildren, newestChildren } from "../../data/child-lists.ts";
import { OPERATION, type OperationType, RESTORABLE } from "../../domain/lifecycle.ts";
import { BackupRecord } from "../../records/schemas/backup.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import { OperationRecord } from "../../records/schemas/operation.ts";

/** How far back an estimate looks, in records of the instance: one Query of at most some 100 KB. */
const LOOK_BACK = 100;

export async function newestBackup({ account_id, id }: InstanceRecord): Promise<BackupRecord | undefined> {
  const newest = await newestChildren({ kind: "backup", accountId: account_id, schema: BackupRecord }, id, LOOK_BACK);
  return newest.find(({ state }) => RESTORABLE.includes(state));
}

/** Two of an instance's completed backups, if there are two: however many failed ones are newer. */
export async function someCompleted(accountId: string, instanceId: string): Promise<BackupRecord[]> {
  const isCompleted = ({ state }: BackupRecord): boolean => RESTORABLE.includes(state);
  return (
    await listChildren({ kind: "backup", accountId, schema: BackupRecord, parentId: instanceId }, { per_page: 2 }, isCompleted)
  ).items;
}

export async function listSucceeded({ account_id, id }: InstanceRecord, type: OperationType): Promise<OperationRecord[]> {
  const list = { kind: "operation", accountId: account_id, schema: OperationRecord } as const;
  const newest = await newestChildren(list, id, LOOK_BACK);
  return newest.filter((operation) => operation.type === type && operation.state === OPERATION.succeeded);
}

/** The whole operation's, which is a little more than the ERP is away. */
export async function durationOfLast(instance: InstanceRecord, type: OperationType): Promise<number | null> {
  const [last] = await listSucceeded(instance, type);
  if (last === undefined || last.started_at === null || last.finished_at === null) return null;
  return Math.ceil((Date.parse(last.finished_at) - Date.parse(last.started_at)) / 1000);
}
