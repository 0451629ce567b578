// GET /instances/:id/code
import * as code from "../../shared/api/code.ts";
import { showImage } from "../../shared/operations/monitoring/images.ts";
import { newestImages } from "../../shared/providers/images.ts";
import { codeRef, emptyCode, toCode } from "../../shared/records/code.ts";
import { instanceRef, requireInstance } from "../../shared/records/instances.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(code.get)(async ({ params, caller, read }) => {
  const { account_id } = caller;
  const records = await read({ instance: instanceRef(account_id, params.id), code: codeRef(account_id, params.id) });
  const instance = requireInstance(records.instance);
  return toCode(records.code ?? emptyCode(instance), showImage(instance, await newestImages()));
});
