// Which hosts there are, by the provider of their server, and what they are told of instances and archives.
import type { BackupRecord, InstanceRecord, ServerRecord } from "../data/records.ts";
import { GiveUp } from "../runtime/task-errors.ts";
import { archiveKey } from "../storage/archive-key.ts";
import type { ArchiveRef, ErpSpec, Host } from "./host.ts";
import { sandboxHost } from "./sandbox.ts";

const HOSTS: Readonly<Record<string, Host>> = { sandbox: sandboxHost };

export function hostOf(server: ServerRecord): Host {
  const host = HOSTS[server.provider];
  if (host === undefined) throw new Error(`This deployment has no hosts of ${server.provider}`);
  return host;
}

export const erpSpecOf = ({ id, domain, database_name, erp_version, edition, admin_email }: InstanceRecord): ErpSpec => ({
  instance_id: id,
  domain,
  database_name,
  erp_version,
  edition,
  admin_email,
});

export function archiveRefOf(backup: BackupRecord): ArchiveRef {
  if (backup.sha256 === null) throw new GiveUp("BACKUP_CORRUPT", "The backup has no recorded checksum");
  return { key: archiveKey(backup), sha256: backup.sha256, erp_version: backup.erp_version };
}
