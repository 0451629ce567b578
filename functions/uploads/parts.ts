// POST /backups/uploads/:id/parts
import { noSuchPart, notFound } from "../../shared/api/errors.ts";
import * as uploads from "../../shared/api/uploads.ts";
import { startChange } from "../../shared/data/change.ts";
import { keys } from "../../shared/data/keys.ts";
import { computePartSizes, requireUpload, recordStoreId, uploadRef, type UploadRecord } from "../../shared/records/uploads.ts";
import { check } from "../../shared/data/writes.ts";
import { UPLOAD } from "../../shared/domain/limits.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { abortMultipart, beginMultipart } from "../../shared/storage/multipart.ts";
import { presignedPart } from "../../shared/storage/presign.ts";
import { buildArchiveKey } from "../../shared/storage/archive-key.ts";

export const handler = handle(uploads.parts)(async ({ params, body, caller, read, commit }) => {
  const records = await read({ upload: uploadRef(caller.account_id, params.id) });
  const upload = requireUpload(records.upload);
  const sizes = computePartSizes(upload);
  const beyond = body.parts.findIndex(({ number }) => number > sizes.length);
  if (beyond >= 0) throw noSuchPart(beyond, sizes.length);
  const key = buildArchiveKey(upload);
  const upload_id = upload.store_id ?? (await begin(upload, key));
  const seconds = UPLOAD.addressMinutes * 60;
  const expires_at = new Date(Math.floor(Date.now() / 1000 + seconds) * 1000).toISOString(); // signatures count in whole seconds
  const parts = body.parts.map(async ({ number, sha256 }) => {
    const checksum = Buffer.from(sha256, "hex").toString("base64");
    const part = { key, upload_id, number, sha256: checksum, size_bytes: sizes[number - 1] };
    return { number, ...(await presignedPart(part, seconds)) };
  });
  const change = startChange({ id: caller.account_id });
  // It may have been aborted meanwhile.
  change.write(check(keys.upload(upload.account_id, upload.id), {}, () => notFound("upload")));
  return commit(change, { parts: await Promise.all(parts), expires_at });
});

/** When two requests send the first part at once, one wins; the other's multipart upload is aborted. */
async function begin(upload: UploadRecord, key: string): Promise<string> {
  const storeId = await beginMultipart(key);
  const recorded = await recordStoreId(upload, storeId);
  if (recorded !== storeId) await abortMultipart(key, storeId);
  if (recorded === undefined) throw notFound("upload");
  return recorded;
}
