// GET /operations/:id/log
import { setTimeout as sleep } from "node:timers/promises";
import * as operations from "../../shared/api/operations.ts";
import { isOpen } from "../../shared/domain/lifecycle.ts";
import { workBehind } from "../../shared/domain/log-positions.ts";
import { withinLogLimits } from "../../shared/operations/monitoring/log-reads.ts";
import { getOperation, permissionsToRead } from "../../shared/records/operations.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import { findWorkLog } from "../../shared/records/work-logs.ts";
import { handle, requirePermission } from "../../shared/runtime/handle.ts";
import { readLogOf } from "../../shared/runtime/read-log.ts";
import { withWaitSlot } from "../../shared/runtime/waiting.ts";

/** Between two looks at work that is followed: each signs in to the server. */
const LOOK_SECONDS = 4;

export const handler = handle(operations.log)(({ params: { id }, query: { after = "0", follow }, caller, isHead }) =>
  withWaitSlot(caller, follow, async (seconds) => {
    const operation = await getOperation(caller.account_id, id);
    if (operation.created_by.id !== caller.id)
      for (const permission of permissionsToRead(operation)) requirePermission(caller, permission);
    const from = Number(after);
    if (isHead || !isOpen(operation.state)) return readStoredLog(operation, from);
    return withinLogLimits(operation, async () => {
      const until = Date.now() + seconds * 1000;
      let excerpt = await readRunningLog(operation, from);
      while (excerpt.text === "" && Date.now() + LOOK_SECONDS * 1000 <= until) {
        await sleep(LOOK_SECONDS * 1000);
        const now = await getOperation(caller.account_id, id);
        if (!isOpen(now.state)) return readStoredLog(now, from);
        excerpt = await readRunningLog(now, from);
      }
      return excerpt;
    });
  }),
);

interface LogExcerpt {
  text: string;
  next: string;
  ended: boolean;
}

/** What has ended keeps its text. */
async function readStoredLog(operation: OperationRecord, from: number): Promise<LogExcerpt> {
  return { ...workBehind(await findWorkLog(operation), from), ended: true };
}

const readRunningLog = async (operation: OperationRecord, from: number): Promise<LogExcerpt> => ({
  ...workBehind(await readLogOf(operation), from),
  ended: false,
});
