// GET /backups/uploads/:id
import * as uploads from "../../shared/api/uploads.ts";
import { find } from "../../shared/data/table.ts";
import { requireUpload, toUpload, uploadRef } from "../../shared/records/uploads.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { receivedParts } from "../../shared/storage/multipart.ts";

export const handler = handle(uploads.get)(async ({ params, caller }) => {
  const upload = requireUpload(await find(uploadRef(caller.account_id, params.id)));
  return toUpload(upload, await receivedParts(upload));
});
