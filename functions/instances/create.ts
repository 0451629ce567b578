// POST /instances
import { invalid, noneInAccount } from "../../shared/api/errors.ts";
import { api } from "../../shared/api/index.ts";
import { backupRef, requireRestorable } from "../../shared/data/backups.ts";
import { beginClone } from "../../shared/data/clones.ts";
import { forecastClone, forecastCreation } from "../../shared/data/forecasts.ts";
import { reserveInstance, toInstance } from "../../shared/data/instances.ts";
import { reserveOperation } from "../../shared/data/operations.ts";
import { firstPolicy } from "../../shared/data/policies.ts";
import type { BackupRecord } from "../../shared/data/records.ts";
import { sealFor } from "../../shared/data/sealed.ts";
import { namedServer, requireUsable, serverRef } from "../../shared/data/servers.ts";
import { generatePassword } from "../../shared/domain/generated-password.ts";
import { requireErp } from "../../shared/providers/offers.ts";
import { catalog } from "../../shared/providers/catalog.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.instances.create)(async ({ body, caller, by, read, commit }) => {
  const { backup_id, neutralize, admin_password = generatePassword(), ...fields } = body;
  const { change, account, operationId, ...records } = await beginWork(
    { caller, read },
    {
      server: serverRef(caller.account_id, body.server_id),
      ...(backup_id !== undefined && { backup: backupRef(caller.account_id, backup_id) }),
    },
  );
  requireErp(await catalog(), body);
  const server = namedServer(records.server);
  const backup = backup_id === undefined ? undefined : requireSame(records.backup, body);
  requireUsable(server);
  if (backup !== undefined) requireRestorable(backup);
  const neutralized = backup !== undefined && (neutralize ?? !isMovedIn(backup));
  const policy = neutralized ? null : account.default_backup_policy;
  const cloned_from_backup_id = backup?.id ?? null;
  const instance = reserveInstance(
    change,
    server,
    { ...fields, ...firstPolicy(change, server.id, policy), cloned_from_backup_id, neutralized },
    operationId,
  );
  await sealFor(change, operationId, admin_password);
  if (backup === undefined)
    reserveOperation(change, by, {
      id: operationId,
      type: "instance.create",
      resource: { type: "instance", id: instance.id, name: instance.name },
    });
  else
    beginClone(
      change,
      by,
      instance,
      backup,
      { ...WHOLE, neutralize: neutralized, reset_users: neutralized, keep_uuid: isMovedIn(backup) },
      operationId,
    );
  const shown = { ...toInstance(instance, server), ...(body.admin_password === undefined && { admin_password }) };
  return commit(change, shown, () =>
    backup === undefined ? forecastCreation(instance, policy) : forecastClone(instance, { backup, policy }, WHOLE),
  );
});

const WHOLE = { restore_database: true, restore_filestore: true };

/** It stays what it was, and does not exist twice. */
const isMovedIn = ({ kind }: BackupRecord): boolean => kind === "uploaded";

/** The ERP must be the one that the backup was made of. */
function requireSame(backup: BackupRecord | undefined, asked: { erp_version: string; edition: string }): BackupRecord {
  if (backup === undefined) throw noneInAccount("backup_id", "backup");
  for (const field of ["erp_version", "edition"] as const)
    if (backup[field] !== null && backup[field] !== asked[field])
      throw invalid({ field, reason: `must be the backup's: ${backup[field]}` });
  return backup;
}
