// What the dry run of a bulk action warns of: the same as the dry runs of the single requests, once for all that is selected.
import { listChildren } from "../../data/child-lists.ts";
import { RESTORABLE } from "../../domain/lifecycle.ts";
import type { Sentence } from "../../domain/sentences.ts";
import { concurrently } from "../../platform/concurrently.ts";
import { getAccount } from "../../records/accounts.ts";
import { BackupRecord } from "../../records/schemas/backup.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import { mayRead, type Reader, sentence } from "../forecasts/forecast.ts";
import { diskWarnings } from "../forecasts/room-forecast.ts";

const AT_ONCE = 10;

/** Each once: what holds for several resources is one sentence with all their `names`. */
export function mergeWarnings(warnings: readonly Sentence[]): Sentence[] {
  const merged = new Map<string, Sentence>();
  for (const warning of warnings) {
    const { names, ...otherParameters } = warning.parameters;
    const key = JSON.stringify([warning.code, otherParameters]);
    const before = merged.get(key)?.parameters["names"];
    merged.set(
      key,
      before === undefined ? warning : sentence(warning.code, { ...otherParameters, names: `${before}, ${names}` }),
    );
  }
  return [...merged.values()];
}

/** The selected backups' instances that keep no completed backup if these are deleted. */
export async function warnOfLastBackups(reader: Reader, selected: readonly BackupRecord[]): Promise<Sentence[]> {
  if (!mayRead(reader, "backup")) return [];
  const going = selected.filter(({ locked }) => !locked); // what is only held is waited for, and deleted then
  const deleted = new Set(going.map(({ id }) => id));
  const restorable = going.filter(({ state }) => RESTORABLE.includes(state));
  const instances = Map.groupBy(restorable, ({ instance_id }) => instance_id);
  const names: string[] = [];
  await concurrently(AT_ONCE, [...instances], async ([id, [backup]]) => {
    if (id === null || backup === undefined) return; // an uploaded one
    const { account_id, instance_name } = backup;
    if (!(await keepsBackup({ account_id, id }, deleted))) names.push(instance_name ?? id);
  });
  return names.toSorted().map((name) => sentence("bulk_no_backup_left", { names: name }));
}

/** Whether an instance has a completed backup besides those that are `deleted`. */
export async function keepsBackup(
  { account_id: accountId, id: parentId }: Pick<InstanceRecord, "account_id" | "id">,
  deleted: ReadonlySet<string> = new Set(),
): Promise<boolean> {
  const isKept = ({ id, state }: BackupRecord): boolean => RESTORABLE.includes(state) && !deleted.has(id);
  const list = { kind: "backup", accountId, parentId, schema: BackupRecord } as const;
  return (await listChildren(list, { per_page: 1 }, isKept)).items.length > 0;
}

/** How many of the new backups have room in the account's quotas, if not all: that says how many backups the account has. */
export async function warnOfQuotas(reader: Reader, accountId: string, planned: number): Promise<Sentence[]> {
  const { used_backup, limit_backup, used_backup_bytes, limit_backup_bytes } = await getAccount(accountId);
  const room = used_backup_bytes < limit_backup_bytes ? Math.max(0, limit_backup - used_backup) : 0;
  if (room >= planned) return [];
  const knowsQuotas = mayRead(reader, "backup") || reader.permissions.includes("settings:read");
  return [knowsQuotas ? sentence("bulk_quotas", { room_count: room, backup_count: planned }) : sentence("bulk_quotas_short")];
}

/** What the servers have too little disk for, of as much of the work as each does at once. */
export async function warnOfRoom(
  reader: Reader,
  accountId: string,
  work: readonly { server: string; bytes: number }[],
  atOnce: number,
): Promise<Sentence[]> {
  const warnings: Sentence[] = [];
  await concurrently(AT_ONCE, [...Map.groupBy(work, ({ server }) => server)], async ([server, each]) => {
    const largest = each.map(({ bytes }) => bytes).toSorted((a, b) => b - a);
    const bytes = largest.slice(0, atOnce).reduce((sum, one) => sum + one, 0);
    warnings.push(...(await diskWarnings(reader, accountId, server, bytes)));
  });
  return warnings;
}
