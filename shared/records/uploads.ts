// Uploads in the table: archives on their way into the storage, and what becomes of those that never arrive.
import * as z from "zod";
import { notFound, tooManyUploads } from "../api/errors.ts";
import { UnfinishedUpload, type Upload } from "../api/uploads.ts";
import { DAY_MS, HOUR_MS } from "../domain/durations.ts";
import { newId } from "../domain/ids.ts";
import { UPLOAD } from "../domain/limits.ts";
import { getAccount } from "./accounts.ts";
import { type Change, startChange, now } from "../data/change.ts";
import { type Author, logEvent } from "./events.ts";
import { keys } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { find, queryAll, type Ref, removeOne, updateOne } from "../data/table.ts";

export const UploadRecord = z.object({
  id: z.string(),
  account_id: z.string(),
  /** The backup that it becomes: its parts are sent to that backup's archive. */
  backup_id: z.string(),
  size_bytes: z.number(),
  /** Its bytes count in the account's quota; those of uploads from before do not. */
  counted: z.literal(true).optional(),
  /** The part size with which it began: another version of the service may cut uploads differently. */
  part_size: z.number().default(UPLOAD.partBytes),
  note: z.string().nullable(),
  file_name: z.string().nullable().default(null),
  /** The storage's ID of the multipart upload, which begins with the first part. */
  store_id: z.string().optional(),
  created_at: z.string(),
  expires_at: z.string(),
});
export type UploadRecord = z.infer<typeof UploadRecord>;

export const uploadRef = (accountId: string, id: string): Ref<UploadRecord> => ({
  key: keys.upload(accountId, id),
  schema: UploadRecord,
});

/** An expired upload is gone, although nobody may have removed it yet. */
export function requireUpload(upload: UploadRecord | undefined): UploadRecord {
  if (upload === undefined || upload.expires_at <= now()) throw notFound("upload");
  return upload;
}

export const toUpload = (upload: UploadRecord, parts: Upload["parts"]): Upload => ({
  ...upload,
  parts,
});

/** The size of each part. */
export const computePartSizes = ({ size_bytes, part_size }: Pick<UploadRecord, "size_bytes" | "part_size">): number[] =>
  Array.from({ length: Math.ceil(size_bytes / part_size) }, (_, index) => Math.min(part_size, size_bytes - index * part_size));

export function reserveUpload(
  change: Change,
  { size_bytes, note, file_name }: Pick<UploadRecord, "size_bytes" | "note" | "file_name">,
): UploadRecord {
  const upload: UploadRecord = {
    id: newId("upload"),
    account_id: change.accountId,
    backup_id: newId("backup"),
    size_bytes,
    counted: true,
    part_size: UPLOAD.partBytes,
    note,
    file_name,
    created_at: change.at,
    expires_at: new Date(Date.parse(change.at) + UPLOAD.days * DAY_MS).toISOString(),
  };
  change.put(keys.upload(change.accountId, upload.id), upload);
  change.use("backup_bytes", size_bytes);
  change.update(keys.uploads(change.accountId), { add: { count: 1 } }, { exists: false, below: { count: UPLOAD.atOnce } }, () =>
    tooManyUploads(UPLOAD.atOnce, []),
  );
  markExpiring(change, upload, upload.expires_at);
  return upload;
}

/** Those that count, with those that have expired and that nobody has removed yet. */
export async function unfinishedUploads(accountId: string): Promise<UnfinishedUpload[]> {
  const items = await queryAll(keys.upload(accountId, "").pk, { consistent: true });
  return parseEach(UnfinishedUpload, items);
}

const markExpiring = (change: Change, { id, account_id, backup_id }: UploadRecord, at: string): void =>
  change.put(keys.expiringUpload(at, id), { account_id, upload_id: id, backup_id });

const unmarkExpiring = (change: Change, { id, expires_at }: UploadRecord): void =>
  change.remove(keys.expiringUpload(expires_at, id), { exists: false });

/** Takes an upload away from its account: whatever was still to be done with it fails from then on. */
function removeUpload(change: Change, { account_id, id, counted }: UploadRecord, equals: Partial<UploadRecord> = {}): void {
  change.remove(keys.upload(account_id, id), { exists: true, equals, same: { counted } }, () => notFound("upload"));
  change.update(keys.uploads(account_id), { add: { count: -1 } });
}

/** Its parts are to be removed. */
const uncount = (change: Change, { size_bytes, counted }: UploadRecord): void =>
  counted && change.use("backup_bytes", -size_bytes);

/** It becomes a backup, whose import takes care of its parts, and whose bytes count on. */
export function finishUpload(change: Change, upload: UploadRecord): void {
  removeUpload(change, upload);
  if (!upload.counted) change.use("backup_bytes", upload.size_bytes, { limited: false });
  unmarkExpiring(change, upload);
}

/**
 * Puts a completed upload back whose import could not be started. It may then be one more than an account may begin. It lasts for
 * an hour at least: for another try, and because the schedule, which may have found its old marker, would remove the same marker
 * again.
 */
export function restoreUpload(change: Change, upload: UploadRecord): void {
  const inAnHour = new Date(Date.now() + HOUR_MS).toISOString();
  const expires_at = upload.expires_at > inAnHour ? upload.expires_at : inAnHour;
  const restored: UploadRecord = { ...upload, expires_at, counted: true };
  change.put(keys.upload(restored.account_id, restored.id), restored);
  change.use("backup_bytes", restored.size_bytes, { limited: false });
  change.update(keys.uploads(restored.account_id), { add: { count: 1 } });
  markExpiring(change, restored, restored.expires_at);
}

/** Its parts are removed at once by whoever aborts it, and by the next run of the schedule if that fails. */
export function abortUpload(change: Change, by: Author, upload: UploadRecord): void {
  removeUpload(change, upload);
  uncount(change, upload);
  unmarkExpiring(change, upload);
  markExpiring(change, upload, now());
  logEvent(change, by, "upload.delete", { type: "upload", id: upload.id, name: upload.note });
}

/** Records the multipart upload of the storage; the ID that counts is returned, undefined if the upload is gone. */
export async function recordStoreId({ account_id, id }: UploadRecord, store_id: string): Promise<string | undefined> {
  const { done, item } = await updateOne(keys.upload(account_id, id), { set: { store_id } }, { none: ["store_id"] });
  return done ? store_id : item && UploadRecord.parse(item).store_id;
}

const SERVICE = { operator: "Expiry of uploads", requestId: "expire-backups" } as const;

const Expiring = z.object({ sk: z.string(), account_id: z.string(), upload_id: z.string(), backup_id: z.string() });
export type ExpiringUpload = z.infer<typeof Expiring>;

/** Uploads whose parts have to be removed. */
export async function expiredUploads(): Promise<ExpiringUpload[]> {
  const items = await queryAll(keys.expiringUploads(), { below: now() });
  return parseEach(Expiring, items);
}

/**
 * Takes an expired upload away from its account, if nobody has; its marker stays until its parts are removed. False if its parts
 * are still of use: it was completed in the meantime, so that they are an archive's, or it was put back and expires later.
 */
export async function removeExpiredUpload({ account_id, upload_id, backup_id }: ExpiringUpload): Promise<boolean> {
  const upload = await find(uploadRef(account_id, upload_id));
  if (upload !== undefined && upload.expires_at > now()) return false;
  if (upload !== undefined) {
    const change = startChange(await getAccount(account_id));
    removeUpload(change, upload, { expires_at: upload.expires_at });
    uncount(change, upload);
    logEvent(change, SERVICE, "upload.expire", { type: "upload", id: upload.id, name: upload.note });
    await change.commit();
  }
  return (await find({ key: keys.record("backup", account_id, backup_id), schema: z.object({}) })) === undefined;
}

export const removeExpiredMarker = ({ sk }: ExpiringUpload): Promise<void> => removeOne({ pk: keys.expiringUploads(), sk });
