// Backups and uploads from before they counted in the account's quotas: this counts them. It can run at any time, and again.
import * as z from "zod";
import { startChange, tryCommit } from "../data/change.ts";
import { type Key, keys, type Item } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { overviewAsRead } from "../data/overview-shards.ts";
import { readWithShards } from "../data/shards.ts";
import { ConditionFailed, queryAll, transact } from "../data/table.ts";
import { update } from "../data/writes.ts";

const queryBackups = (accountId: string) => queryAll(keys.record("backup", accountId, "").pk, { consistent: true });
const queryUploads = (accountId: string) => queryAll(keys.upload(accountId, "").pk, { consistent: true });

export async function countAccount(accountId: string): Promise<void> {
  const backups = (await queryBackups(accountId)).filter(({ counted_bytes }) => counted_bytes === undefined);
  const uploads = (await queryUploads(accountId)).filter(({ counted }) => counted === undefined);
  await countEach(accountId, [
    ...parseEach(Sized, backups).map(uncountedBackup),
    ...parseEach(Sized, uploads).map(uncountedUpload),
  ]);
  await correct(accountId);
}

/** A record that is not counted yet, with what says that it is. */
interface Uncounted {
  key: Key;
  set: Item;
  /** The attributes as they were read; undefined if absent. */
  same: Item;
  backups: number;
  bytes: number;
}

const Sized = z.object({
  pk: z.string(),
  sk: z.string(),
  size_bytes: z.number().nullish(),
  /** Present if the backup is a failed import whose archive is kept. */
  upload: z.object({ size_bytes: z.number() }).optional(),
});
type Sized = z.infer<typeof Sized>;

function uncountedBackup({ pk, sk, size_bytes, upload }: Sized): Uncounted {
  const bytes = size_bytes ?? upload?.size_bytes ?? 0;
  const same = { counted_bytes: undefined, size_bytes, upload };
  return { key: { pk, sk }, set: { counted_bytes: bytes }, same, backups: 1, bytes };
}

function uncountedUpload({ pk, sk, size_bytes }: Sized): Uncounted {
  return { key: { pk, sk }, set: { counted: true }, same: { counted: undefined }, backups: 0, bytes: size_bytes ?? 0 };
}

/** Each change writes the account's item: many records in one keep out of the way of what else happens. */
const AT_A_TIME = 50;

async function countEach(accountId: string, uncounted: readonly Uncounted[]): Promise<void> {
  for (let from = 0; from < uncounted.length; from += AT_A_TIME) {
    const some = uncounted.slice(from, from + AT_A_TIME);
    if (await count(accountId, some)) continue;
    for (const one of some) await count(accountId, [one]);
  }
}

/** False if one of them was changed since it was read: a change that concerns its bytes has counted it. */
async function count(accountId: string, some: readonly Uncounted[]): Promise<boolean> {
  const change = startChange({ id: accountId });
  for (const { key, set, same, backups, bytes } of some) {
    change.update(key, { set }, { same });
    change.use("backup", backups, { limited: false });
    change.use("backup_bytes", bytes, { limited: false });
  }
  return tryCommit(change);
}

const CORRECTIONS = 20;
const Used = z.object({
  used_backup: z.number().default(0),
  used_backup_bytes: z.number().default(0),
  moved_in: z.number().optional(),
});

/**
 * The counters are what the records say that they count, unless something changes meanwhile: after a rollback, a version without
 * counters may have removed some that were counted.
 */
async function correct(accountId: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const overview = await overviewAsRead(accountId);
    const accountKey = keys.account(accountId);
    const parts = await readWithShards(() => queryAll(accountKey.pk, { beginsWith: keys.accountParts(), consistent: true }));
    const used = Used.parse(parts.find(({ sk }) => sk === accountKey.sk) ?? {});
    const inShards = parts.filter(({ sk }) => sk !== accountKey.sk).map((part) => Used.parse(part));
    const backups = (await queryBackups(accountId)).filter(({ counted_bytes }) => counted_bytes !== undefined);
    const uploads = (await queryUploads(accountId)).filter(({ counted }) => counted === true);
    const bytes = [...backups.map(({ counted_bytes }) => counted_bytes), ...uploads.map(({ size_bytes }) => size_bytes)];
    const right = { used_backup: backups.length, used_backup_bytes: bytes.map(Number).reduce((sum, each) => sum + each, 0) };
    for (const { used_backup, used_backup_bytes } of inShards) {
      right.used_backup -= used_backup;
      right.used_backup_bytes -= used_backup_bytes;
    }
    if (used.used_backup === right.used_backup && used.used_backup_bytes === right.used_backup_bytes) return;
    try {
      return await transact([update(accountKey, { set: right }, { same: { moved_in: used.moved_in } }), ...overview.writes()]);
    } catch (error) {
      if (!(error instanceof ConditionFailed) || attempt >= CORRECTIONS) throw error;
    }
  }
}
