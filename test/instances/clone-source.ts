// The instance and the backup that tests clone, with data that is known.
import type { Backup } from "../../shared/api/backups.ts";
import type { Instance } from "../../shared/api/instances.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";

/** What the backup has. */
export const DATA = { orders: 3, note: "before the clone" };

interface CloneSource {
  me: TestAccount;
  source: Instance;
  backup: Backup;
}

export async function cloneSource(): Promise<CloneSource> {
  const me = await account({ seeded: true });
  await setQuota(me.id, "server", 100);
  const source = await me.instance({ erp_version: "18.0" });
  await me.api.put(`/sandbox/instances/${source.id}/data`, DATA);
  const backup = await me.backup(source.id);
  await me.api.put(`/sandbox/instances/${source.id}/data`, { note: "after the backup" });
  return { me, source, backup };
}

export const cloneBody = (backup: Backup, fields: Record<string, unknown> = {}) => ({
  name: "Staging",
  domain: uniqueDomain("staging"),
  backup_id: backup.id,
  ...fields,
});
