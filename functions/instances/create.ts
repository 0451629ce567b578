// POST /instances
import { noSuch, type Problem } from "../../shared/api/errors.ts";
import * as instances from "../../shared/api/instances.ts";
import { backupRef, requireFiles, requireRestorable } from "../../shared/records/backups.ts";
import { beginClone } from "../../shared/operations/work/clones.ts";
import { forecastClone } from "../../shared/operations/forecasts/clone-forecast.ts";
import { alsoEndsRedirect, forecastCreation } from "../../shared/operations/forecasts/instance-forecast.ts";
import { reserveInstance } from "../../shared/records/instances.ts";
import { toInstance } from "../../shared/records/shown-instances.ts";
import { type Beginning, reserveOperation } from "../../shared/records/operations.ts";
import { firstPolicy } from "../../shared/records/policies.ts";
import type { AccountRecord } from "../../shared/records/schemas/account.ts";
import type { BackupRecord } from "../../shared/records/schemas/backup.ts";
import type { Caller } from "../../shared/records/schemas/caller.ts";
import type { InstanceRecord } from "../../shared/records/schemas/instance.ts";
import { endRedirect, redirectRef } from "../../shared/records/redirects.ts";
import { storeSealed } from "../../shared/data/sealed.ts";
import { requireServerInBody, requireUsable, serverRef } from "../../shared/records/servers.ts";
import { generatePassword } from "../../shared/domain/generated-password.ts";
import { problemsOfErp } from "../../shared/providers/offers.ts";
import { readCatalog } from "../../shared/providers/catalog.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";
import type { Forecasting } from "../../shared/runtime/request-store.ts";
import { requireNone } from "../../shared/api/parse.ts";

export const handler = handle(instances.create)(async ({ body, caller, by, read, commit }) => {
  const { backup_id, neutralize, accept_missing_files, admin_password = generatePassword(), ...fields } = body;
  const { change, account, operationId, ...records } = await beginWork(
    { caller, read },
    {
      server: serverRef(caller.account_id, body.server_id),
      redirect: redirectRef(caller.account_id, body.domain),
      ...(backup_id !== undefined && { backup: backupRef(caller.account_id, backup_id) }),
    },
  );
  const { backup } = records;
  requireNone([
    ...problemsOfErp(await readCatalog(), body),
    ...(records.server === undefined ? [noSuch("server_id", "server")] : []),
    ...(backup_id === undefined ? [] : problemsOfBackup(backup, body)),
  ]);
  const server = requireServerInBody(records.server);
  requireUsable(server);
  if (backup !== undefined) {
    requireRestorable(backup);
    requireFiles(backup, WHOLE, accept_missing_files);
  }
  const neutralized = backup !== undefined && (neutralize ?? !isMovedIn(backup));
  const policy = neutralized ? null : account.default_backup_policy;
  const cloned_from_backup_id = backup?.id ?? null;
  const instance = reserveInstance(
    change,
    server,
    { ...fields, ...firstPolicy(change, server.id, policy), cloned_from_backup_id, neutralized },
    operationId,
  );
  const redirectOf = await endRedirect(change, records.redirect, instance);
  await storeSealed(change, operationId, admin_password);
  const creation = { change, by, operationId, caller };
  const forecast =
    backup === undefined ? beginEmpty(creation, instance, policy) : beginFromBackup(creation, instance, { backup, policy });
  const created = { ...toInstance(instance, server), ...(body.admin_password === undefined && { admin_password }) };
  return commit(change, created, async () =>
    alsoEndsRedirect(caller, await forecast(), { domain: instance.domain, of: redirectOf }),
  );
});

type Creation = Beginning & { caller: Caller };
type Policy = AccountRecord["default_backup_policy"];

function beginEmpty({ change, by, operationId, caller }: Creation, instance: InstanceRecord, policy: Policy): Forecasting {
  const { id, name } = instance;
  reserveOperation(change, by, { id: operationId, type: "instance.create", resource: { type: "instance", id, name } });
  return () => forecastCreation(caller, instance, policy);
}

function beginFromBackup(
  { caller, ...creation }: Creation,
  instance: InstanceRecord,
  { backup, policy }: { backup: BackupRecord; policy: Policy },
): Forecasting {
  const { neutralized } = instance;
  const copied = { ...WHOLE, neutralize: neutralized, reset_users: neutralized };
  beginClone(creation, instance, backup, { ...copied, keep_uuid: isMovedIn(backup) });
  return () => forecastClone(caller, instance, { backup, policy }, copied);
}

const WHOLE = { restore_database: true, restore_filestore: true };

/** It stays what it was, and does not exist twice. */
const isMovedIn = ({ kind }: BackupRecord): boolean => kind === "uploaded";

/** What is wrong with a backup to begin with: the ERP must be the one that it was made of. */
function problemsOfBackup(backup: BackupRecord | undefined, requested: { erp_version: string; edition: string }): Problem[] {
  if (backup === undefined) return [noSuch("backup_id", "backup")];
  return (["erp_version", "edition"] as const)
    .filter((field) => backup[field] !== null && backup[field] !== requested[field])
    .map((field) => ({ field, reason: `must be the backup's: ${backup[field]}` }));
}
