// POST /backups/uploads/:id/complete
import { uploadIncomplete } from "../../shared/api/errors.ts";
import * as uploads from "../../shared/api/uploads.ts";
import { toBackup } from "../../shared/records/backups.ts";
import { beginImport } from "../../shared/operations/backups/imports.ts";
import { requireServerInBody, requireUsable, serverRef } from "../../shared/records/servers.ts";
import { computePartSizes, requireUpload, uploadRef, type UploadRecord } from "../../shared/records/uploads.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { receivedParts } from "../../shared/storage/multipart.ts";

export const handler = handle(uploads.complete)(async ({ params, body, caller, by, read, commit }) => {
  const { change, operationId, ...records } = await beginWork(
    { caller, read },
    { upload: uploadRef(caller.account_id, params.id), server: serverRef(caller.account_id, body.server_id) },
  );
  const upload = requireUpload(records.upload);
  const server = requireServerInBody(records.server);
  requireUsable(server);
  const completeUpload = await requireAllParts(upload);
  return commit(change, toBackup(beginImport({ change, by, operationId }, completeUpload, body)));
});

/** Parts that arrive after this check, at addresses that are still valid, make the import fail: it isn't the archive. */
async function requireAllParts(upload: UploadRecord): Promise<UploadRecord & { store_id: string }> {
  const received = new Map((await receivedParts(upload)).map(({ number, size_bytes }) => [number, size_bytes]));
  const sizes = computePartSizes(upload);
  const missing = sizes.flatMap((size, index) => (received.get(index + 1) === size ? [] : [index + 1]));
  const { store_id } = upload;
  if (missing.length > 0 || store_id === undefined) throw uploadIncomplete(missing);
  return { ...upload, store_id };
}
