// Every hour: deletes expired safety backups, but never an instance's last completed backup.
import { expiredBackups } from "../../shared/data/backups.ts";
import { workflowOf } from "../../shared/domain/lifecycle.ts";
import { now } from "../../shared/data/change.ts";
import { reserveExpiry } from "../../shared/data/expiry.ts";
import { ConditionFailed } from "../../shared/data/table.ts";
import { ApiError } from "../../shared/api/errors.ts";
import { log } from "../../shared/platform/log.ts";
import { startExecution } from "../../shared/runtime/start.ts";
import { concurrently } from "../../shared/runtime/concurrently.ts";

/** One after another, so that two of one instance do not rely on each other to stay. */
const AT_ONCE = 1;

export const handler = async (): Promise<void> =>
  concurrently(AT_ONCE, await expiredBackups(now()), async (expired) => {
    const operation = await reserveExpiry(expired).catch((error: unknown) => {
      // The backup, or the one to keep, has changed in the meantime: the next hour decides again.
      if (!(error instanceof ConditionFailed || error instanceof ApiError)) throw error;
      log.info("an expired backup cannot be deleted yet", { backup: expired.backupId, reason: error.message });
    });
    if (operation === undefined) return;
    await startExecution(workflowOf(operation.type), operation.id, operation.input); // if this gets lost, the sweep does it
  });
