// Backups in the table.
import * as z from "zod";
import {
  backupLocked,
  backupNotCompleted,
  backupNotDeletable,
  backupNotEditable,
  noneInAccount,
  notFound,
  operationInProgress,
} from "../api/errors.ts";
import { Backup, BackupStatus } from "../api/backups.ts";
import { isId, newId } from "../domain/ids.ts";
import { BACKUP_WAITING, EDITABLE, isFailure, LIFECYCLE, RESTORABLE } from "../domain/lifecycle.ts";
import { FAILED_BACKUP_DAYS } from "../domain/limits.ts";
import { getterOf, presentOf, refOf } from "./by-id.ts";
import { type Author, type By, type Change, heldByAnother, now } from "./change.ts";
import { type Ending, Held } from "./ending.ts";
import { holdInstance, requireAllowed, requireServerUsable } from "./instances.ts";
import { takePlace } from "./servers.ts";
import { keys } from "./keys.ts";
import { type Listed, listOfParent, listPage, type PageQuery } from "./lists.ts";
import { changing, reserveOperation } from "./operations.ts";
import { BackupRecord, type DueRun, type InstanceRecord, type OperationRecord, type PolicyRecord } from "./records.ts";
import { find, type Item, queryAll, updateOne } from "./table.ts";
import { type Version, versionOf } from "./versions.ts";

export const backupRef = refOf("backup", BackupRecord);
export const presentBackup = presentOf<BackupRecord>("backup");
export const getBackup = getterOf("backup", backupRef, presentBackup);

export function listBackups(
  accountId: string,
  { status, instance_id, ...page }: PageQuery & { status?: string | undefined; instance_id?: string | undefined },
): Promise<Listed<BackupRecord>> {
  const list = { kind: "backup", accountId, schema: BackupRecord } as const;
  return instance_id === undefined ? listPage({ ...list, status }, page) : listOfParent(list, instance_id, page);
}

export function listBackupsOfInstance(
  accountId: string,
  instanceId: string,
  { status, ...page }: PageQuery & { status?: string | undefined },
): ReturnType<typeof listOfParent<BackupRecord>> {
  if (!isId("instance", instanceId)) throw notFound("instance");
  return listOfParent(
    { kind: "backup", accountId, schema: BackupRecord },
    instanceId,
    page,
    (backup) => status === undefined || backup.state === status,
  );
}

export const backupVersion = (backup: BackupRecord): Version =>
  versionOf(backupRef(backup.account_id, backup.id), backup, { shown: Backup, unversioned: [], status: ({ state }) => state });

export const toBackup = (record: BackupRecord): Backup => ({ ...record, status: record.state });

interface NewBackup {
  kind: Backup["kind"];
  note: string | null;
  expires_at: string | null;
  /** Of a scheduled backup. */
  due_at?: string;
  attempt?: number;
}

/** Reserves a backup of an instance. With a given ID, a step that runs twice creates one backup. */
export function reserveBackup(
  change: Change,
  instance: InstanceRecord,
  draft: NewBackup,
  operationId: string | null,
  id = newId("backup"),
): BackupRecord {
  const backup: BackupRecord = {
    ...draft,
    id,
    account_id: change.accountId,
    number: change.number("backup", id),
    instance_id: instance.id,
    instance_name: instance.name,
    server_id: instance.server_id,
    admin_email: instance.admin_email,
    erp_version: instance.erp_version,
    edition: instance.edition,
    database_name: instance.database_name,
    state: LIFECYCLE["backup.create"].through,
    status_reason: null,
    size_bytes: null,
    sha256: null,
    missing_files: 0,
    skipped_files: 0,
    locked: false,
    drill: null,
    retained_by: [],
    operation_id: operationId,
    created_at: now(),
    completed_at: null,
  };
  change.add("backup", backup, { status: backup.state, parentId: instance.id });
  if (backup.expires_at !== null) markExpiring(change, { ...backup, expires_at: backup.expires_at });
  return backup;
}

/** Makes sure that a backup's archive can be read: it is completed and not being deleted. */
export function requireRestorable(backup: BackupRecord): void {
  if (!RESTORABLE.includes(backup.state)) throw backupNotCompleted(backup.state);
}

/** Keeps a backup's archive from deletion until the operation ends. */
export const retainBackup = (change: Change, backupId: string, operationId: string): void =>
  change.update(
    keys.record("backup", change.accountId, backupId),
    { add: { used_by: new Set([operationId]) } },
    { oneOf: { state: RESTORABLE } },
    (present) => (present === undefined ? noneInAccount("backup_id", "backup") : backupNotCompleted(String(present["state"]))),
  );

/** Holds a backup, in one of these states, for work that leaves it as it is. */
export const lockBackup = (change: Change, backup: BackupRecord, from: readonly string[], operationId: string): void =>
  change.update(
    keys.record("backup", change.accountId, backup.id),
    { set: { operation_id: operationId } },
    { equals: { operation_id: null }, oneOf: { state: from } },
    (present) =>
      present === undefined ? notFound("backup") : (heldByAnother(present) ?? backupNotCompleted(String(present["state"]))),
  );

/** Changes a backup's note or its lock. Any operation may use the backup meanwhile, except its deletion. */
export function editBackup(
  change: Change,
  backup: BackupRecord,
  { note, locked }: { note?: string | null | undefined; locked?: boolean | undefined },
): BackupRecord {
  if (!EDITABLE.includes(backup.state)) throw backupNotEditable(backup.state);
  change.update(
    keys.record("backup", change.accountId, backup.id),
    { set: { note, locked } },
    { oneOf: { state: EDITABLE } },
    (present) => (present === undefined ? notFound("backup") : backupNotEditable(String(present["state"]))),
  );
  return { ...backup, ...(note !== undefined && { note }), ...(locked !== undefined && { locked }) };
}

/** Makes sure that a backup can be deleted now, so that the client gets the reason before anything is written. */
export function requireDeletable(backup: BackupRecord): void {
  const from: readonly string[] = LIFECYCLE["backup.delete"].from;
  const [reader] = backup.used_by ?? [];
  const holder = backup.operation_id ?? reader;
  if (holder !== undefined) throw operationInProgress(holder);
  if (!from.includes(backup.state)) throw backupNotDeletable(backup.state);
  if (backup.locked) throw backupLocked(backup.state);
}

/** Begins the deletion of a backup that is not locked and that nothing uses. */
export function beginDeletion(change: Change, by: Author, backup: BackupRecord, operationId: string): OperationRecord {
  const { through } = LIFECYCLE["backup.delete"];
  change.move(
    "backup",
    backup,
    { from: backup.state, to: through },
    { set: { state: through, operation_id: operationId } },
    { equals: { operation_id: null, state: backup.state }, none: ["used_by", "locked"] },
    backupError,
  );
  return reserveOperation(change, by, {
    id: operationId,
    type: "backup.delete",
    ...changing("backup", { ...backup, name: backup.instance_name }),
    concerns: [backup.instance_id],
  });
}

/** What the end of an operation takes of its backup. */
const Ended = Held.extend({
  kind: z.string(),
  instance_id: z.string(),
  completed_at: z.string().nullable(),
  expires_at: z.string().nullable(),
});

/** Ends the work on a backup: it is gone, or free again in another state. */
export async function endBackup(change: Change, { operation, to, at, reasonAfter }: Ending): Promise<void> {
  const backup = await find({ key: keys.record("backup", change.accountId, operation.resource.id), schema: Ended });
  if (backup?.operation_id !== operation.id) return;
  const mine = { equals: { operation_id: operation.id } };
  if (to === "gone") {
    change.drop("backup", backup, backup.state, mine);
    if (backup.expires_at !== null) change.remove(keys.expiringBackup(backup.expires_at, backup.id), { exists: false });
    return;
  }
  const state = BackupStatus.parse(to);
  const completed = state === LIFECYCLE["backup.create"].to ? { completed_at: backup.completed_at ?? at } : {};
  const expires_at = backup.kind === "scheduled" && isFailure(state) ? (backup.expires_at ?? failureExpiry()) : backup.expires_at;
  if (expires_at !== null && backup.expires_at === null) markExpiring(change, { ...backup, expires_at });
  const set = { state, status_reason: reasonAfter(state, backup.status_reason), operation_id: null, expires_at, ...completed };
  change.move("backup", backup, { from: backup.state, to: state }, { set }, mine);
}

const failureExpiry = (): string => new Date(Date.now() + FAILED_BACKUP_DAYS * DAY_MS).toISOString();
const DAY_MS = 86_400_000;

const markExpiring = (
  change: Change,
  { id, instance_id, expires_at }: { id: string; instance_id: string; expires_at: string },
): void => change.put(keys.expiringBackup(expires_at, id), { account_id: change.accountId, backup_id: id, instance_id });

type MeasuredArchive = Required<
  Pick<BackupRecord, "size_bytes" | "sha256" | "stored_checksum" | "missing_files" | "skipped_files">
>;

/** Measurements of the stored archive. */
export async function recordArchive(
  accountId: string,
  id: string,
  { size_bytes, sha256, stored_checksum, missing_files, skipped_files }: MeasuredArchive,
): Promise<void> {
  const set = { size_bytes, sha256, stored_checksum, missing_files, skipped_files };
  await updateOne(keys.record("backup", accountId, id), { set }, {});
}

function backupError(present: Item | undefined): Error {
  if (present === undefined) return notFound("backup");
  const [reader] = present["used_by"] instanceof Set ? present["used_by"] : [];
  const holder = heldByAnother(present) ?? (typeof reader === "string" ? operationInProgress(reader) : undefined);
  const state = String(present["state"]);
  return holder ?? (present["locked"] === true ? backupLocked(state) : backupNotDeletable(state));
}

const Expiring = z.object({ account_id: z.string(), backup_id: z.string(), instance_id: z.string() });

/** Expired safety backups of all accounts. */
export async function expiredBackups(at: string): Promise<{ accountId: string; backupId: string; instanceId: string }[]> {
  const items = await queryAll(keys.expiring(), { below: at }); // the key starts with the expiry time
  return items
    .map((item) => Expiring.parse(item))
    .map(({ account_id, backup_id, instance_id }) => ({ accountId: account_id, backupId: backup_id, instanceId: instance_id }));
}

/** Begins a backup of an instance: reserves it, locks the instance, and starts the operation with the change. */
export function beginBackup(
  change: Change,
  by: By,
  instance: InstanceRecord,
  note: string | null,
  id: string,
): { backup: BackupRecord; operation: OperationRecord } {
  requireAllowed(instance, "backup");
  const backup = reserveBackup(change, instance, { kind: "manual", note, expires_at: null }, id);
  requireServerUsable(change, instance);
  return { backup, operation: begin(change, by, instance, backup, id) };
}

/** A due run of a policy, with the IDs of what it makes: a run makes one backup, however often it is begun. */
interface Run {
  due: DueRun;
  operationId: string;
  backupId: string;
  /** The backup, if it had to wait for a place. */
  waiting: BackupRecord | undefined;
  /** When the run after it is due. */
  next_run_at: string;
}

/** The same for a policy's run, which also takes one of its server's places. */
export function beginScheduledBackup(
  change: Change,
  by: Author,
  instance: InstanceRecord,
  { due, operationId, backupId, waiting, next_run_at }: Run,
): OperationRecord {
  requireAllowed(instance, "backup");
  if (waiting !== undefined)
    change.update(
      keys.record("backup", change.accountId, waiting.id),
      { set: { operation_id: operationId } },
      { equals: { operation_id: null, state: BACKUP_WAITING } },
    );
  const backup = waiting ?? reserveScheduled(change, instance, due, operationId, backupId);
  takePlace(change, instance.server_id);
  return begin(change, by, instance, backup, operationId, { next_backup_at: next_run_at });
}

/** The backup of a run that waits for a place on its server. */
export const reserveWaiting = (change: Change, instance: InstanceRecord, due: DueRun, id: string): BackupRecord =>
  reserveScheduled(change, instance, due, null, id);

const reserveScheduled = (
  change: Change,
  instance: InstanceRecord,
  { due_at, attempt }: DueRun,
  operationId: string | null,
  id: string,
): BackupRecord =>
  reserveBackup(change, instance, { kind: "scheduled", note: null, expires_at: null, due_at, attempt }, operationId, id);

/** The backup that waits for a policy's run, if there is one. */
export const waitingBackup = async (policy: PolicyRecord | undefined): Promise<BackupRecord | undefined> =>
  policy?.due?.backup_id ? find(backupRef(policy.account_id, policy.due.backup_id)) : undefined;

function begin(
  change: Change,
  by: Author,
  instance: InstanceRecord,
  backup: BackupRecord,
  id: string,
  shown: Item = {},
): OperationRecord {
  holdInstance(change, instance, id, shown);
  return reserveOperation(change, by, {
    id,
    type: "backup.create",
    resource: { type: "backup", id: backup.id, name: backup.instance_name },
    input: { instance_id: instance.id },
    holds: [{ type: "instance", id: instance.id }],
    result: { backup_id: backup.id },
  });
}
