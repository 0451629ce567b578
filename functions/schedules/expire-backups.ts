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
import { shuffled } from "../../shared/runtime/shuffled.ts";

type Expired = Awaited<ReturnType<typeof expiredBackups>>[number];

const INSTANCES_AT_ONCE = 10;

/** Those of one instance one after the other, so that two of them do not rely on each other to stay. */
export const handler = async (): Promise<void> => {
  const expired = Map.groupBy(await expiredBackups(now()), ({ instanceId }) => instanceId);
  await concurrently(INSTANCES_AT_ONCE, shuffled([...expired.values()]), (backups) => concurrently(1, backups, expire));
};

async function expire(expired: Expired): Promise<void> {
  const operation = await reserveExpiry(expired).catch((error: unknown) => {
    // The backup, or the one to keep, has changed in the meantime: the next hour decides again.
    if (!(error instanceof ConditionFailed || error instanceof ApiError)) throw error;
    log.info("an expired backup cannot be deleted yet", { backup: expired.backupId, reason: error.message });
  });
  if (operation === undefined) return;
  await startExecution(workflowOf(operation.type), operation.id, operation.input); // if this gets lost, the sweep does it
}
