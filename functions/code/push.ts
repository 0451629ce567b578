// POST /hooks/deploys/:secret
import * as code from "../../shared/api/code.ts";
import { limitPushes, findHook, recordPush } from "../../shared/records/deploy-hooks.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(code.push)(async ({ params }) => {
  const hook = await findHook(params.secret);
  if (hook !== undefined) {
    await limitPushes(hook.instance_id);
    await recordPush(hook);
  }
  return { accepted: true };
});
