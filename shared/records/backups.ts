// Backups in the table.
import * as z from "zod";
import {
  backupLocked,
  backupNotCompleted,
  backupNotDeletable,
  backupNotEditable,
  backupNotImportable,
  filesMissing,
  noneInAccount,
  notFound,
  operationInProgress,
} from "../api/errors.ts";
import { BACKUP_UNVERSIONED, Backup } from "../api/backups.ts";
import { nameOfBackup } from "../domain/backup-name.ts";
import type { Labels } from "../api/fields.ts";
import { DAY_MS } from "../domain/durations.ts";
import { isId, newId } from "../domain/ids.ts";
import { EDITABLE, isFailure, LIFECYCLE, type OperationType, RESTORABLE, type Transition } from "../domain/lifecycle.ts";
import { FAILED_BACKUP_DAYS, UPLOAD } from "../domain/limits.ts";
import { lacksManyFiles } from "../domain/missing-files.ts";

import { createGetter, listByIds, createRequirement, createRef } from "../data/by-id.ts";
import { recountBackup, countNewBackup, countUploaded, uncountBackup } from "./backup-quota.ts";
import { type Change, startChange, heldError, labelChange, labelConflict, retryOnConflict, withLabels } from "../data/change.ts";
import type { Author } from "./events.ts";
import { type Ending, Held } from "./ending.ts";
import { keys, type Item } from "../data/keys.ts";
import { listPage } from "../data/lists.ts";
import { type ByIds, type Listed, pageByIds, type PageQuery } from "../data/pages.ts";
import { parseEach } from "../data/parse-each.ts";
import { changing, requireRunning, reserveOperation } from "./operations.ts";
import { NO_REASON, shownReason, withReasons } from "./reasons.ts";
import { BackupRecord, KeptUpload } from "./schemas/backup.ts";
import type { BackupCode } from "./schemas/code.ts";
import type { InstanceRecord } from "./schemas/instance.ts";
import type { OperationCore, OperationRecord } from "./schemas/operation.ts";
import { type Finding, findChildren, findPage, needsEntries } from "../data/search.ts";
import { find, queryAll } from "../data/table.ts";
import { addTags } from "../data/tags.ts";
import { type Version, computeVersion } from "../data/versions.ts";

export const backupRef = createRef("backup", BackupRecord);
export const requireBackup = createRequirement<BackupRecord>("backup");
export const getBackup = createGetter("backup", backupRef, requireBackup);

type BackupQuery = PageQuery &
  Finding &
  ByIds & {
    status?: string | undefined;
    kind?: string | undefined;
    drill?: string | undefined;
    locked?: string | undefined;
    size_bytes_above?: number | undefined;
  };

export async function listBackups(
  accountId: string,
  { instance_id, ...query }: BackupQuery & { instance_id?: string | undefined },
): Promise<Listed<BackupRecord>> {
  if (instance_id !== undefined) return listBackupsOfInstance(accountId, instance_id, query);
  const { ids, status, kind, drill, locked, size_bytes_above, label, search, sort, ...page } = query;
  const list = { kind: "backup", accountId, schema: BackupRecord } as const;
  if (ids !== undefined) return listByIds(list, ids);
  const [finding, filters] = [
    { label: addTags(label, { drill }), search, sort },
    { status, kind, locked, size_bytes_above },
  ];
  if (!needsEntries(finding, filters, page)) return listPage({ ...list, status }, page);
  const { records, meta } = await findPage(list, { finding, filters, page });
  return { items: parseEach(BackupRecord, records), meta };
}

export async function listBackupsOfInstance(
  accountId: string,
  instanceId: string,
  { ids, status, kind, drill, locked, size_bytes_above, label, search, sort, ...page }: BackupQuery,
): ReturnType<typeof findChildren<BackupRecord>> {
  if (!isId("instance", instanceId)) throw notFound("instance");
  const list = { kind: "backup", accountId, schema: BackupRecord } as const;
  if (ids !== undefined) {
    const { items } = await listByIds(list, ids);
    const ofInstance = items.filter(({ instance_id }) => instance_id === instanceId);
    return { ...pageByIds(ofInstance, ids), isEmpty: ofInstance.length === 0 };
  }
  return findChildren(list, instanceId, {
    finding: { label: addTags(label, { drill }), search, sort },
    filters: { status, kind, locked, size_bytes_above },
    page,
  });
}

export const backupVersion = (backup: BackupRecord): Version =>
  computeVersion(backupRef(backup.account_id, backup.id), backup, {
    publicSchema: Backup,
    unversioned: BACKUP_UNVERSIONED,
    status: ({ state }) => state,
    represent: ({ drill }) => ({ drill: drill && withReasons(drill) }),
  });

export function toBackup({ state, upload, drill, ...record }: BackupRecord): Backup {
  // An import that is tried again keeps the reason of the try before, for a start that is withdrawn.
  const explanation = upload !== undefined && !isFailure(state) ? NO_REASON : record;
  const { status_reason } = explanation;
  return { ...record, status: state, status_reason, reason: shownReason(explanation), drill: drill && withReasons(drill) };
}

interface NewBackup {
  kind: Backup["kind"];
  note: string | null;
  expires_at: string | null;
  /** Its instance's, unless it has its own. */
  labels?: Labels | undefined;
  /** Scheduled backups only. */
  due_at?: string;
  attempt?: number;
}

/** Reserves a backup of an instance. With a given ID, a step that runs twice creates one backup. */
export function reserveBackup(
  change: Change,
  instance: InstanceRecord,
  { labels = instance.labels, ...draft }: NewBackup,
  { operationId, id = newId("backup") }: { operationId: string | null; id?: string },
): BackupRecord {
  const backup: BackupRecord = {
    ...draft,
    labels,
    ...countNewBackup(change, draft.kind),
    ...fresh(change, id, operationId),
    file_name: null,
    instance_id: instance.id,
    instance_name: instance.name,
    server_id: instance.server_id,
    admin_email: instance.admin_email,
    erp_version: instance.erp_version,
    edition: instance.edition,
    database_name: instance.database_name,
    missing_modules: instance.missing_modules,
  };
  change.add("backup", backup, { status: backup.state, parentId: instance.id });
  if (backup.expires_at !== null) markExpiring(change, { id, instance_id: instance.id, expires_at: backup.expires_at });
  return backup;
}

/** Reserves the backup of an uploaded archive, of which nothing is known yet. */
export function reserveUploaded(
  change: Change,
  {
    id,
    server_id,
    note,
    file_name,
    size_bytes,
  }: Pick<BackupRecord, "id" | "server_id" | "note" | "file_name"> & {
    size_bytes: number;
  },
  operationId: string,
): BackupRecord {
  const backup: BackupRecord = {
    ...countUploaded(change, size_bytes),
    ...fresh(change, id, operationId),
    labels: {},
    kind: "uploaded",
    note,
    file_name,
    expires_at: null,
    instance_id: null,
    instance_name: null,
    server_id,
    admin_email: null,
    erp_version: null,
    edition: null,
    database_name: null,
  };
  change.add("backup", backup, { status: backup.state });
  return backup;
}

/** Fields of a backup whose archive isn't stored yet, or was removed. */
export const UNMEASURED = {
  size_bytes: null,
  sha256: null,
  missing_files: 0,
  listed_files: null,
  skipped_files: 0,
  left_out: [],
  missing_modules: null,
};

/** Every backup when its work begins. */
const fresh = (change: Change, id: string, operationId: string | null) => ({
  id,
  account_id: change.accountId,
  number: change.number("backup", id),
  state: LIFECYCLE["backup.create"].through,
  ...NO_REASON,
  ...UNMEASURED,
  locked: false,
  drill: null,
  retained_by: [],
  operation_id: operationId,
  created_at: change.at,
  completed_at: null,
});

/** A backup of which is known what is in its archive: of an uploaded one, only once it is completed. */
type Restorable = BackupRecord & {
  [K in "erp_version" | "edition" | "database_name"]: NonNullable<BackupRecord[K]>;
};

/** Makes sure that a backup's archive can be read: it is completed and not being deleted. */
export function requireRestorable(backup: BackupRecord): asserts backup is Restorable {
  const { state, erp_version, edition, database_name } = backup;
  if (!RESTORABLE.includes(state) || erp_version === null || edition === null || database_name === null)
    throw backupNotCompleted(state);
}

/** Makes sure that whoever restores both parts of a backup knows of the files that it lacks. */
export function requireFiles(
  { state, missing_files, listed_files }: BackupRecord,
  { restore_database, restore_filestore }: { restore_database: boolean; restore_filestore: boolean },
  accepted: boolean | undefined,
): void {
  const concerns = restore_database && restore_filestore && lacksManyFiles({ missing_files, listed_files });
  if (concerns && accepted !== true) throw filesMissing(state, missing_files, listed_files);
}

/** The same for a drill, which locks the backup: what locks it already comes before the state that it is in meanwhile. */
export function requireDrillable(backup: BackupRecord): asserts backup is Restorable {
  if (backup.operation_id !== null) throw operationInProgress(backup.operation_id);
  requireRestorable(backup);
}

/**
 * Begins another try of an import that failed, as long as its archive is stored. Its expiry stays, for a try that is withdrawn.
 */
export function beginImportAgain(change: Change, backup: BackupRecord, server_id: string, operationId: string): KeptUpload {
  const { through } = LIFECYCLE["backup.import"];
  const again: readonly string[] = LIFECYCLE["backup.import"].again;
  if (backup.operation_id !== null) throw operationInProgress(backup.operation_id);
  if (backup.upload === undefined || !again.includes(backup.state)) throw backupNotImportable(backup.state);
  change.move(
    { kind: "backup", record: backup },
    { from: backup.state, to: through, set: { state: through, operation_id: operationId, server_id } },
    { equals: { operation_id: null, state: backup.state, upload: backup.upload } },
    (current) =>
      current === undefined ? notFound("backup") : (heldError(current) ?? backupNotImportable(String(current["state"]))),
  );
  return backup.upload;
}

/** Keeps a backup's archive from deletion until the operation ends. */
export const retainBackup = (change: Change, backupId: string, operationId: string): void =>
  change.update(
    keys.record("backup", change.accountId, backupId),
    { add: { used_by: new Set([operationId]) } },
    { oneOf: { state: RESTORABLE } },
    (current) => (current === undefined ? noneInAccount("backup_id", "backup") : backupNotCompleted(String(current["state"]))),
  );

/** Holds a backup, in one of these states, for work that leaves it as it is. */
export const lockBackup = (change: Change, backup: BackupRecord, from: readonly string[], operationId: string): void =>
  change.update(
    keys.record("backup", change.accountId, backup.id),
    { set: { operation_id: operationId } },
    { equals: { operation_id: null }, oneOf: { state: from } },
    (current) =>
      current === undefined ? notFound("backup") : (heldError(current) ?? backupNotCompleted(String(current["state"]))),
  );

export function requireEditable({ state }: BackupRecord): void {
  if (!EDITABLE.includes(state)) throw backupNotEditable(state);
}

/** Changes a backup's note, its labels or its lock. Any operation may use the backup meanwhile, except its deletion. */
export function editBackup(
  change: Change,
  backup: BackupRecord,
  { note, locked, labels }: { note?: string | null | undefined; locked?: boolean | undefined; labels?: Labels | undefined },
): BackupRecord {
  requireEditable(backup);
  const relabeled = labelChange(backup.labels, labels);
  change.update(
    keys.record("backup", change.accountId, backup.id),
    { set: { note, locked, labels } },
    { oneOf: { state: EDITABLE }, ...withLabels(relabeled) },
    (current) =>
      current === undefined
        ? notFound("backup")
        : (labelConflict(current, backup.id, relabeled) ?? backupNotEditable(String(current["state"]))),
  );
  change.setSearchFields("backup", backup.id, { note }, relabeled);
  // Whatever it was when it was read: two requests may lock and unlock it at the same time.
  if (locked !== undefined) change.setFilterFields("backup", backup.id, { locked: !locked }, { locked });
  return {
    ...backup,
    ...(note !== undefined && { note }),
    ...(locked !== undefined && { locked }),
    ...(labels !== undefined && { labels }),
  };
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
    { kind: "backup", record: backup },
    { from: backup.state, to: through, set: { state: through, operation_id: operationId } },
    { equals: { operation_id: null, state: backup.state }, none: ["used_by", "locked"] },
    backupError,
  );
  return reserveOperation(change, by, {
    id: operationId,
    type: "backup.delete",
    ...changing("backup", { ...backup, name: nameOfBackup(backup) }),
    concerns: backup.instance_id === null ? [] : [backup.instance_id],
  });
}

/** What the end of an operation takes of its backup. */
const Ended = Held.extend({
  kind: z.string(),
  instance_id: z.string().nullable(),
  completed_at: z.string().nullable(),
  expires_at: z.string().nullable(),
  labels: z.custom<Labels>().default({}),
  drill: z.unknown(),
  locked: z.boolean().optional(),
  counted_bytes: z.number().optional(),
  with_code: z.boolean().optional(),
});

/** Ends the work on a backup: it is gone, or free again in another state. */
export async function endBackup(change: Change, { operation, to, at, failure, withdrawn, reasonAfter }: Ending): Promise<void> {
  const backup = await find({ key: keys.record("backup", change.accountId, operation.resource.id), schema: Ended });
  if (backup?.operation_id !== operation.id) return;
  const whileHeld = { equals: { operation_id: operation.id } };
  if (isReader(operation.type)) {
    // Its steps may have found the archive corrupt, which is more recent than the state that it began in.
    change.update(keys.record("backup", change.accountId, backup.id), { set: { operation_id: null } }, whileHeld);
    return;
  }
  if (to === "gone") {
    const { where, conditionError } = uncountBackup(change, backup);
    change.removeListed({ kind: "backup", record: backup, status: backup.state }, { ...whileHeld, ...where }, conditionError);
    if (backup.expires_at !== null) change.remove(keys.expiringBackup(backup.expires_at, backup.id), { exists: false });
    if (backup.with_code === true) change.remove(keys.backupCode(change.accountId, backup.id), { exists: false });
    return;
  }
  const state = BackupRecord.shape.state.parse(to);
  const completed = state === LIFECYCLE["backup.create"].to ? { completed_at: backup.completed_at ?? at } : {};
  const { expires_at, bytes, set, remove } = archiveAfter(operation, backup, { state, failure, withdrawn });
  if (expires_at !== backup.expires_at) {
    if (backup.expires_at !== null) change.remove(keys.expiringBackup(backup.expires_at, backup.id), { exists: false });
    if (expires_at !== null) markExpiring(change, { ...backup, expires_at });
  }
  const counted = bytes === undefined ? undefined : recountBackup(change, backup, bytes);
  const ended = { state, ...reasonAfter(state, backup), operation_id: null, expires_at, ...completed, ...set, ...counted?.set };
  change.move(
    { kind: "backup", record: backup },
    { from: backup.state, to: state, set: ended, ...(remove !== undefined && { remove }) },
    { ...whileHeld, ...counted?.where },
    counted?.conditionError,
  );
  if (set?.["size_bytes"] === null) change.setSearchFields("backup", backup.id, { size_bytes: null });
}

/**
 * Returns when a backup expires after work on it, which bytes it counts if these change, and what else its record says of the
 * archive from then on.
 */
function archiveAfter(
  { type, input }: OperationCore,
  { kind, expires_at }: z.infer<typeof Ended>,
  { state, failure, withdrawn }: { state: string } & Pick<Ending, "failure" | "withdrawn">,
): { expires_at: string | null; bytes?: number; set?: Item; remove?: string[] } {
  const failed = isFailure(state);
  // Other work leaves the expiry as it is, also that of a backup that turned out to be corrupt, and whose deletion has failed.
  if (type === "backup.create" && failed)
    return { expires_at: expires_at ?? (kind === "scheduled" ? inDays(FAILED_BACKUP_DAYS) : null), bytes: 0, set: UNMEASURED };
  if (type !== "backup.import" || withdrawn) return { expires_at };
  if (!failed) return { expires_at: null, remove: ["upload"] };
  if (failure === "BACKUP_CORRUPT") return { expires_at: null, bytes: 0, remove: ["upload"] };
  return { expires_at: inDays(UPLOAD.failedImportDays), set: { upload: KeptUpload.parse(input) } };
}

const isReader = (type: OperationType): boolean => {
  const row: Transition = LIFECYCLE[type];
  return row.intact === true;
};

const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

const markExpiring = (
  change: Change,
  { id, instance_id, expires_at }: { id: string; instance_id: string | null; expires_at: string },
): void => change.put(keys.expiringBackup(expires_at, id), { account_id: change.accountId, backup_id: id, instance_id });

type MeasuredArchive = Required<
  Pick<BackupRecord, "size_bytes" | "sha256" | "stored_checksum" | "missing_files" | "listed_files" | "skipped_files">
>;

/**
 * Measurements of the stored archive, by the operation that makes the backup: a task that was given up must not write to a failed
 * one.
 */
export async function recordArchive(
  operation: OperationRecord,
  id: string,
  { size_bytes, sha256, stored_checksum, missing_files, listed_files, skipped_files }: MeasuredArchive,
  /** What its instance's ERP has; undefined if that is only its image. */
  code?: BackupCode,
): Promise<void> {
  const measured = { size_bytes, sha256, stored_checksum, missing_files, listed_files, skipped_files };
  if (code === undefined) return recordMeasured(operation, id, measured);
  await recordMeasured(operation, id, { ...measured, with_code: true }, (change) =>
    change.update(keys.backupCode(operation.account_id, id), { set: code }, { exists: false }),
  );
}

const Counted = z.object({ counted_bytes: z.number().optional() });

/** Records what an operation found out about its backup's archive, and counts its bytes. `also` adds to the same change. */
export const recordMeasured = (
  operation: OperationRecord,
  id: string,
  measured: Partial<BackupRecord> & Pick<BackupRecord, "size_bytes">,
  also: (change: Change) => void = () => undefined,
): Promise<void> =>
  retryOnConflict(async () => {
    const key = keys.record("backup", operation.account_id, id);
    const backup = await find({ key, schema: Counted });
    const change = startChange({ id: operation.account_id });
    const { set, where, conditionError } = recountBackup(change, { ...backup, id }, measured.size_bytes ?? 0);
    const whileHeld = { equals: { operation_id: operation.id } };
    change.update(key, { set: { ...measured, ...set } }, { ...whileHeld, ...where }, conditionError);
    change.setSearchFields("backup", id, { size_bytes: measured.size_bytes });
    change.revise();
    requireRunning(change, operation);
    also(change);
    await change.commit();
  });

function backupError(current: Item | undefined): Error {
  if (current === undefined) return notFound("backup");
  const [reader] = current["used_by"] instanceof Set ? current["used_by"] : [];
  const holder = heldError(current) ?? (typeof reader === "string" ? operationInProgress(reader) : undefined);
  const state = String(current["state"]);
  return holder ?? (current["locked"] === true ? backupLocked(state) : backupNotDeletable(state));
}

const Expiring = z.object({ account_id: z.string(), backup_id: z.string(), instance_id: z.string().nullable() });

/** Expired backups of all accounts; an uploaded one has no instance. */
export async function expiredBackups(at: string): Promise<{ accountId: string; backupId: string; instanceId: string | null }[]> {
  const items = await queryAll(keys.expiring(), { below: at }); // the key starts with the expiry time
  return parseEach(Expiring, items).map(({ account_id, backup_id, instance_id }) => ({
    accountId: account_id,
    backupId: backup_id,
    instanceId: instance_id,
  }));
}
