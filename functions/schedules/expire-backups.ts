// Every hour: deletes expired backups, but never an instance's last completed backup; and removes the parts of uploads that
// expired or were deleted.
import { expiredBackups } from "../../shared/records/backups.ts";
import { workflowOf } from "../../shared/domain/lifecycle.ts";
import { now } from "../../shared/data/change.ts";
import { reserveExpiry } from "../../shared/operations/backups/expiry.ts";
import { ConditionFailed } from "../../shared/data/table.ts";
import { removeExpiredUpload, expiredUploads, type ExpiringUpload, removeExpiredMarker } from "../../shared/records/uploads.ts";
import { buildArchiveKey } from "../../shared/storage/archive-key.ts";
import { abortUploads } from "../../shared/storage/uploads.ts";
import { TryAgain } from "../../shared/platform/task-errors.ts";
import { ApiError } from "../../shared/api/errors.ts";
import { log } from "../../shared/platform/log.ts";
import { startExecution } from "../../shared/runtime/start.ts";
import { concurrentlyLogged, inParts } from "../../shared/runtime/concurrently-logged.ts";
import { shuffled } from "../../shared/runtime/shuffled.ts";

type Expired = Awaited<ReturnType<typeof expiredBackups>>[number];

const INSTANCES_AT_ONCE = 10;

export const handler = (): Promise<void> => inParts({ backups: expireBackups, uploads: expireUploads });

/** Those of one instance one after the other, so that two of them do not rely on each other to stay. */
async function expireBackups(): Promise<void> {
  const byInstance = Map.groupBy(await expiredBackups(now()), ({ instanceId, backupId }) => instanceId ?? backupId);
  await concurrentlyLogged(
    INSTANCES_AT_ONCE,
    shuffled([...byInstance]),
    ([, backups]) =>
      concurrentlyLogged(1, backups, expire, ({ accountId, backupId }) => ({ account: accountId, backup: backupId })),
    ([source]) => ({ source }),
  );
}

const UPLOADS_AT_ONCE = 5;

const expireUploads = async (): Promise<void> =>
  concurrentlyLogged(UPLOADS_AT_ONCE, shuffled(await expiredUploads()), expireUpload, ({ account_id, upload_id }) => ({
    account: account_id,
    upload: upload_id,
  }));

async function expireUpload(expired: ExpiringUpload): Promise<void> {
  try {
    if (await removeExpiredUpload(expired)) await abortUploads(buildArchiveKey(expired));
    await removeExpiredMarker(expired);
  } catch (error) {
    // Another run was faster, or the storage is away: the next hour does it.
    if (!(error instanceof ApiError || error instanceof TryAgain)) throw error;
    log.info("an upload's parts could not be removed yet", { upload: expired.upload_id, reason: error.message });
  }
}

async function expire(expired: Expired): Promise<void> {
  const operation = await reserveExpiry(expired).catch((error: unknown) => {
    // The backup, or the one to keep, has changed in the meantime: the next hour decides again.
    if (!(error instanceof ConditionFailed || error instanceof ApiError)) throw error;
    log.info("an expired backup cannot be deleted yet", { backup: expired.backupId, reason: error.message });
  });
  if (operation === undefined) return;
  await startExecution(workflowOf(operation.type), operation.id, operation.input); // if this gets lost, the sweep does it
}
