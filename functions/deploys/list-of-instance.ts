// GET /instances/:id/deploys
import * as deploys from "../../shared/api/deploys.ts";
import { codeRef, emptyCode } from "../../shared/records/code.ts";
import { listDeploys, toDeploy } from "../../shared/records/deploys.ts";
import { instanceRef, requireInstance } from "../../shared/records/instances.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(deploys.listOfInstance)(async ({ params, query, caller, read }) => {
  const { account_id } = caller;
  const records = await read({ instance: instanceRef(account_id, params.id), code: codeRef(account_id, params.id) });
  const instance = requireInstance(records.instance);
  const { items, meta } = await listDeploys(records.code ?? emptyCode(instance), query);
  return { items: items.map(toDeploy), meta };
});
