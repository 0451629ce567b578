// POST /instances/:id/code/rotate-hook
import { BASE_PATH } from "../../shared/api/base-path.ts";
import * as code from "../../shared/api/code.ts";
import { changesBetween } from "../../shared/records/audit-changes.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { codeRef, emptyCode } from "../../shared/records/code.ts";
import { setHook } from "../../shared/records/deploy-hooks.ts";
import { logEvent } from "../../shared/records/events.ts";
import { instanceRef, requireInstance } from "../../shared/records/instances.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(code.rotateHook)(async ({ params, body, caller, by, read, commit, origin }) =>
  retryOnConflict(async () => {
    const { account_id } = caller;
    const { change, ...records } = await beginChange(
      { caller, read },
      { instance: instanceRef(account_id, params.id), code: codeRef(account_id, params.id) },
    );
    const instance = requireInstance(records.instance);
    const current = records.code ?? emptyCode(instance);
    const secret = setHook(change, instance, current, body.enabled);
    const changes = changesBetween({ hook: current.hook_last4 }, { hook: secret?.slice(-4) }, ["hook"]);
    logEvent(change, by, { type: "code.rotate_hook", changes }, { type: "instance", id: instance.id, name: instance.name });
    return commit(change, { hook_url: secret === null ? null : `${origin()}${BASE_PATH}/hooks/deploys/${secret}` });
  }),
);
