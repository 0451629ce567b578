// POST /instances/:id/clone
import { noSuch, notFound, type Problem, serverOfBackupUnknown } from "../../shared/api/errors.ts";
import * as instances from "../../shared/api/instances.ts";
import { backupRef, requireFiles, requireRestorable } from "../../shared/records/backups.ts";
import { beginClone } from "../../shared/operations/work/clones.ts";
import { forecastClone } from "../../shared/operations/forecasts/clone-forecast.ts";
import { alsoEndsRedirect } from "../../shared/operations/forecasts/instance-forecast.ts";
import { instanceRef, reserveInstance } from "../../shared/records/instances.ts";
import { toInstance } from "../../shared/records/shown-instances.ts";
import { firstPolicy } from "../../shared/records/policies.ts";
import type { BackupRecord } from "../../shared/records/schemas/backup.ts";
import type { InstanceRecord } from "../../shared/records/schemas/instance.ts";
import type { ServerRecord } from "../../shared/records/schemas/server.ts";
import { endRedirect, redirectRef } from "../../shared/records/redirects.ts";
import { storeSealed } from "../../shared/data/sealed.ts";
import { requireServerInBody, requireUsable, serverRef } from "../../shared/records/servers.ts";
import { uniqueDatabaseName } from "../../shared/domain/database-name.ts";
import { generatePassword } from "../../shared/domain/generated-password.ts";
import { beginWork } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";
import { requireNone } from "../../shared/api/parse.ts";

export const handler = handle(instances.clone)(async ({ params, body, caller, by, read, commit }) => {
  const { change, account, operationId, source, backup, redirect, chosen } = await beginWork(
    { caller, read },
    {
      source: instanceRef(caller.account_id, params.id),
      backup: backupRef(caller.account_id, body.backup_id),
      redirect: redirectRef(caller.account_id, body.domain),
      ...(body.server_id !== undefined && { chosen: serverRef(caller.account_id, body.server_id) }),
    },
  );
  const isUnknown = body.server_id !== undefined && chosen === undefined;
  requireSource(params.id, source, backup, isUnknown ? [noSuch("server_id", "server")] : []);
  const server = serverFor(source, body.server_id, chosen);
  requireRestorable(backup);
  requireFiles(backup, body, body.accept_missing_files);
  const { name, domain, neutralize, restore_database, restore_filestore, reset_users = neutralize } = body;
  const policy = neutralize ? null : account.default_backup_policy;
  const instance = reserveInstance(
    change,
    server,
    {
      name,
      domain,
      erp_version: backup.erp_version,
      edition: backup.edition,
      database_name: body.database_name ?? uniqueDatabaseName(name, operationId),
      admin_email: source?.admin_email ?? String(backup.admin_email),
      cloned_from_backup_id: backup.id,
      neutralized: neutralize,
      labels: body.labels ?? source?.labels ?? backup.labels,
      ...firstPolicy(change, server.id, policy),
    },
    operationId,
  );
  const redirectOf = await endRedirect(change, redirect, instance);
  const admin_password = body.admin_password ?? generatePassword();
  await storeSealed(change, operationId, admin_password);
  const copied = { restore_database, restore_filestore, neutralize, reset_users, keep_uuid: false };
  beginClone({ change, by, operationId }, instance, backup, copied);
  const created = { ...toInstance(instance, undefined), ...(body.admin_password === undefined && { admin_password }) };
  return commit(change, created, async () => {
    const requested = { ...instance, database_name: body.database_name };
    const planned = await forecastClone(caller, requested, { backup, policy }, copied);
    return alsoEndsRedirect(caller, planned, { domain, of: redirectOf });
  });
});

/** The path names the source: an instance, or one that was deleted and left this backup. */
function requireSource(
  instanceId: string,
  source: InstanceRecord | undefined,
  backup: BackupRecord | undefined,
  otherProblems: readonly Problem[],
): asserts backup is BackupRecord {
  if (source === undefined && backup?.instance_id !== instanceId) throw notFound("instance");
  if (backup === undefined) return requireNone([noSuch("backup_id", "backup"), ...otherProblems]);
  const isAnothers = backup.instance_id !== instanceId;
  requireNone([...(isAnothers ? [{ field: "backup_id", reason: "is a backup of another instance" }] : []), ...otherProblems]);
}

/** The requested server, or the source's own. */
function serverFor(
  source: InstanceRecord | undefined,
  serverId: string | undefined,
  requestedServer: ServerRecord | undefined,
): Pick<ServerRecord, "id" | "ip_address"> {
  if (serverId !== undefined) {
    const server = requireServerInBody(requestedServer);
    requireUsable(server);
    return server;
  }
  if (source === undefined) throw serverOfBackupUnknown();
  return { id: source.server_id, ip_address: source.server_ip };
}
