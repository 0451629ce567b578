// POST /instances/:id/backups
import * as backups from "../../shared/api/backups.ts";
import { toBackup } from "../../shared/records/backups.ts";
import { beginBackup } from "../../shared/operations/backups/begin-backup.ts";
import { instanceRef, requireInstance } from "../../shared/records/instances.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(backups.create)(async ({ params, body, caller, by, read, commit }) => {
  const refs = { instance: instanceRef(caller.account_id, params.id) };
  const { change, operationId, instance } = await beginWork({ caller, read }, refs);
  const { backup } = beginBackup({ change, by, operationId }, requireInstance(instance), body);
  return commit(change, toBackup(backup));
});
