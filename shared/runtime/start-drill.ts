// Starts a drill without a request: the policies' `drill_every_days`.
import { getAccount } from "../data/accounts.ts";
import { type Author, changeOf } from "../data/change.ts";
import { beginDrill } from "../data/drills.ts";
import type { BackupRecord, OperationRecord } from "../data/records.ts";
import { newId } from "../domain/ids.ts";
import { workflowOf } from "../domain/lifecycle.ts";
import { startExecution } from "./start.ts";

/** On the server that the backup was made on. Throws the API's errors if it cannot be held now. */
export async function startDrill(backup: BackupRecord, createdBy: Author): Promise<OperationRecord> {
  const change = changeOf(await getAccount(backup.account_id));
  const operation = beginDrill(change, createdBy, backup, backup.server_id, newId("operation"));
  await change.commit();
  await startExecution(workflowOf(operation.type), operation.id, operation.input); // if this gets lost, the sweep does it
  return operation;
}
