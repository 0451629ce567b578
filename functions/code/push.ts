// POST /hooks/deploys/:secret
import * as code from "../../shared/api/code.ts";
import { admitPush, findHook, notePush } from "../../shared/records/deploy-hooks.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(code.push)(async ({ params }) => {
  const hook = await findHook(params.secret);
  if (hook !== undefined) {
    await admitPush(hook.instance_id);
    await notePush(hook);
  }
  return { accepted: true };
});
