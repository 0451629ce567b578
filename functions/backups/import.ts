// POST /backups/:id/import
import * as backups from "../../shared/api/backups.ts";
import { backupRef, requireBackup } from "../../shared/records/backups.ts";
import { retryImport } from "../../shared/operations/backups/imports.ts";
import { toOperation } from "../../shared/records/operations.ts";
import { requireServerInBody, requireUsable, serverRef } from "../../shared/records/servers.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(backups.import)(async ({ params, body, caller, by, read, commit }) => {
  const { change, operationId, ...records } = await beginWork(
    { caller, read },
    { backup: backupRef(caller.account_id, params.id), server: serverRef(caller.account_id, body.server_id) },
  );
  const backup = requireBackup(records.backup);
  const server = requireServerInBody(records.server);
  requireUsable(server);
  return commit(change, toOperation(retryImport({ change, by, operationId }, backup, server.id)));
});
