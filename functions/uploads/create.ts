// POST /backups/uploads
import { ApiError, tooManyUploads, uploadTooLarge } from "../../shared/api/errors.ts";
import * as uploads from "../../shared/api/uploads.ts";
import { logEvent } from "../../shared/records/events.ts";
import { reserveUpload, toUpload, unfinishedUploads } from "../../shared/records/uploads.ts";
import { UPLOAD } from "../../shared/domain/limits.ts";
import { chooseByEnvironment } from "../../shared/platform/env.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(uploads.create)(async ({ body, caller, by, read, commit }) => {
  const limit = chooseByEnvironment<number>({ test: () => UPLOAD.testBytesMax, live: () => UPLOAD.bytesMax });
  if (body.size_bytes > limit) throw uploadTooLarge(limit);
  const { change } = await beginChange({ caller, read }, {});
  const upload = reserveUpload(change, {
    size_bytes: body.size_bytes,
    note: body.note ?? null,
    file_name: body.file_name ?? null,
  });
  logEvent(change, by, "upload.create", { type: "upload", id: upload.id, name: upload.note });
  return commit(change, toUpload(upload, [])).catch(async (error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== "QUOTA_EXCEEDED" || error.details?.["resource"] !== "upload") throw error;
    throw tooManyUploads(UPLOAD.atOnce, await unfinishedUploads(caller.account_id));
  });
});
