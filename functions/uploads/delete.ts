// DELETE /backups/uploads/:id
import { notFound } from "../../shared/api/errors.ts";
import * as uploads from "../../shared/api/uploads.ts";
import { abortUpload, toUpload, uploadRef } from "../../shared/records/uploads.ts";
import { Upload } from "../../shared/api/uploads.ts";
import { buildEtag, versionedFields } from "../../shared/domain/etag.ts";
import { log } from "../../shared/platform/log.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { buildArchiveKey } from "../../shared/storage/archive-key.ts";
import { abortMultipart, receivedParts } from "../../shared/storage/multipart.ts";

const VERSIONED = versionedFields(Upload.shape, []);

export const handler = handle(uploads.delete)(async ({ params, caller, by, read, commit, matchFound }) => {
  const { change, upload } = await beginChange({ caller, read }, { upload: uploadRef(caller.account_id, params.id) });
  if (upload === undefined) throw notFound("upload"); // one that has expired still counts as unfinished, and can be aborted
  await matchFound(async () => buildEtag(toUpload(upload, await receivedParts(upload)), VERSIONED));
  abortUpload(change, by, upload);
  const reply = await commit(change, { id: upload.id, deleted: true as const });
  const { store_id } = upload;
  if (store_id !== undefined)
    await abortMultipart(buildArchiveKey(upload), store_id).catch((error: unknown) =>
      log.warn("the parts of an aborted upload stay until the next run of expire-backups", { upload: upload.id, error }),
    );
  return reply;
});
