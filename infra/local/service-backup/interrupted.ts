// What was in progress when a backup of the service was taken. Its work went on without the restored service, which can neither
// finish nor undo it: the undo of an operation that has succeeded since would remove what it made.
import { join } from "node:path";
import { endOperation } from "../../../shared/operations/work/operation-ends.ts";
import { findOperation, removeOpenMarker, openOperations } from "../../../shared/records/operations.ts";
import { useAccess } from "../access.ts";
import { startDynamoDb } from "../dynamodb/dynamodb.ts";
import { because } from "../../../shared/domain/reasons.ts";
import { operationError } from "../../../shared/platform/task-errors.ts";
import { REGION } from "../template/resolve.ts";

const ERROR = operationError("INTERNAL_ERROR", because("service_restored"));

/** Ends these operations as failed, without an undo, in the data of a folder. From then on this process reads no other table. */
export async function endInterrupted(dataDir: string, names: { TABLE_NAME: string; ENVIRONMENT: string }): Promise<string[]> {
  const database = await startDynamoDb({ dataDir: join(dataDir, "dynamodb"), accessKeyId: "restored" });
  try {
    useAccess({
      AWS_ENDPOINT_URL: database.url,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: database.accessKeyId,
      AWS_SECRET_ACCESS_KEY: database.accessKeyId,
      ...names,
    });
    const open = await openOperations();
    for (const { accountId, id } of open) {
      const operation = await findOperation(accountId, id);
      if (operation === undefined) await removeOpenMarker(id);
      else await endOperation(operation, { succeeded: false, error: ERROR });
    }
    return open.map(({ id }) => id);
  } finally {
    await database.stop();
  }
}
