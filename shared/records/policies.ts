// Backup policies in the table: one item for each instance that has one.
//
// A policy's item is its own timer: index `byStatus` has the enabled policies in the order of the next time at which there is
// something to do for them. One write therefore moves a policy and its timer, and nothing can be killed between the two.
import { randomBytes } from "node:crypto";
import type { PolicyFields } from "../api/backup-policy.ts";
import { BackupPolicy, POLICY_UNVERSIONED } from "../api/policy-shown.ts";
import { instanceBeingDeleted, notFound } from "../api/errors.ts";
import { nameOfBackup } from "../domain/backup-name.ts";
import { MINUTE_MS } from "../domain/durations.ts";
import { bytesOfId, newId } from "../domain/ids.ts";
import { BACKUP_WAITING, INSTANCE_RENAMABLE, LIFECYCLE, type ProtectionStatus } from "../domain/lifecycle.ts";
import { SPREAD_MINUTES } from "../domain/limits.ts";
import { uncountBackup } from "./backup-quota.ts";
import { type Change, now, Overtaken } from "../data/change.ts";
import { type Author, logEvent } from "./events.ts";
import { POLICY_SHARDS } from "../data/codes.ts";
import { keys, type Item } from "../data/keys.ts";
import { parseOrSkip } from "../data/parse-each.ts";
import type { BackupRecord } from "./schemas/backup.ts";
import { type DueRun, type PolicyCore, PolicyRecord } from "./schemas/backup-policy.ts";
import type { InstanceRecord } from "./schemas/instance.ts";
import { query, type Ref } from "../data/table.ts";
import { type Version, computeVersion } from "../data/versions.ts";

export const policyRef = (accountId: string, instanceId: string): Ref<PolicyRecord> => ({
  key: keys.backupPolicy(accountId, instanceId),
  schema: PolicyRecord,
});

export function requirePolicy(policy: PolicyRecord | undefined): PolicyRecord {
  if (policy === undefined) throw notFound("backup policy");
  return policy;
}

export const policyVersion = (policy: PolicyRecord): Version =>
  computeVersion(policyRef(policy.account_id, policy.instance_id), policy, {
    publicSchema: BackupPolicy,
    unversioned: POLICY_UNVERSIONED,
  });

export const toIso = (at: number): string => new Date(at).toISOString();
export const minutesAfter = (at: string, minutes: number): string => toIso(Date.parse(at) + minutes * MINUTE_MS);

const chooseShard = (instanceId: string): number => bytesOfId(instanceId).readUInt8(15) % POLICY_SHARDS;

/** How long after its due time an instance's run starts, so that 02:00 is not a stampede. */
const spreadMs = (instanceId: string): number =>
  Math.floor((bytesOfId(instanceId).readUInt16BE(12) / 65_536) * SPREAD_MINUTES * MINUTE_MS);

/** Returns when the next run starts; undefined for a disabled policy. */
export const startKey = ({ instance_id, next_run_at }: Pick<PolicyCore, "instance_id" | "next_run_at">): string | undefined =>
  next_run_at === null ? undefined : toIso(Date.parse(next_run_at) + spreadMs(instance_id));

/** A run that starts as soon as it is due. */
export const immediateRun = (at: string): DueRun => ({ due_at: at, attempt: 1, start_at: at, held_since: null, backup_id: null });

/** What is stored of a policy: its sort key in the index is when there is something to do. */
function toItem(policy: PolicyCore): Item {
  const wakes = [
    policy.due?.start_at ?? startKey(policy),
    policy.overdue_at ?? undefined,
    policy.drill_at ?? undefined,
    policy.retain ? policy.since : undefined,
  ];
  const [wake] = wakes.filter((each) => each !== undefined).toSorted();
  if (!policy.enabled || wake === undefined) return policy;
  return {
    ...policy,
    list_status: keys.policiesDue(chooseShard(policy.instance_id)),
    number: keys.policyDue(wake, policy.instance_id),
  };
}

/** Writes a policy, if it still is as it was read: `before` is undefined if there was none. */
export function savePolicy<P extends Omit<PolicyCore, "revision">>(
  change: Change,
  before: PolicyCore | undefined,
  fields: P,
): P & Pick<PolicyCore, "revision"> {
  const policy = { ...fields, revision: randomBytes(9).toString("base64url") };
  const key = keys.backupPolicy(policy.account_id, policy.instance_id);
  const item = toItem(policy);
  const overtaken = (): Error => policyOvertaken(policy.instance_id);
  if (before === undefined) change.put(key, item, overtaken);
  else
    change.update(
      key,
      { set: item, ...(item["number"] === undefined && { remove: ["list_status", "number"] }) },
      { equals: { revision: before.revision } },
      overtaken,
    );
  return policy;
}

const policyOvertaken = (instanceId: string): Error =>
  new Overtaken("The backup policy was changed at the same time; read it and try again if you need to", instanceId);

/** Sets the policy of an instance that is being created, with a run at once, which then also finds the time of the next one. */
export function firstPolicy(
  change: Change,
  server_id: string,
  fields: PolicyFields | null,
): Pick<InstanceRecord, "id" | "next_backup_at"> {
  const id = newId("instance");
  if (fields === null) return { id, next_backup_at: null };
  const at = now();
  const ids = { account_id: change.accountId, instance_id: id, server_id };
  const { next_run_at } = savePolicy(change, undefined, {
    ...fields,
    ...ids,
    next_run_at: fields.enabled ? at : null,
    last_run: null,
    since: at,
    due: fields.enabled ? immediateRun(at) : null,
    retain: false,
    overdue_at: null,
    drill_at: fields.enabled && fields.drill_every_days !== null ? at : null,
  });
  return { id, next_backup_at: next_run_at };
}

export interface Present {
  by: Author;
  instance: InstanceRecord;
  policy: PolicyRecord | undefined;
  /** The backup that waits for a slot on its server. */
  waiting: BackupRecord | undefined;
}

/** Removes an instance's policy. */
export function removePolicy(change: Change, { by, instance, policy, waiting }: Present & { policy: PolicyRecord }): void {
  change.remove(keys.backupPolicy(policy.account_id, policy.instance_id), { equals: { revision: policy.revision } }, () =>
    policyOvertaken(policy.instance_id),
  );
  if (waiting !== undefined) removeWaitingBackup(change, by, waiting);
  showProtection(change, instance, { to: "unprotected", next_backup_at: null });
}

/** A backup that waits has no operation and no archive: nothing is left of it, but the event. */
export function removeWaitingBackup(change: Change, by: Author, backup: BackupRecord): void {
  const { where } = uncountBackup(change, backup);
  change.removeListed(
    { kind: "backup", record: backup, status: backup.state },
    { equals: { operation_id: null, state: BACKUP_WAITING }, ...where },
    () => policyOvertaken(String(backup.instance_id)),
  );
  logEvent(change, by, "backup.delete", { type: "backup", id: backup.id, name: nameOfBackup(backup) });
}

/** Moves an instance to a protection status, and shows when its next backup is due. */
export const showProtection = (
  change: Change,
  instance: InstanceRecord,
  { to, next_backup_at }: { to: ProtectionStatus; next_backup_at: string | null },
  unchanged: Item = {},
): void =>
  change.update(
    keys.record("instance", change.accountId, instance.id),
    { set: { ...change.moveProtection(instance, { from: instance.protection_status, to }), next_backup_at } },
    {
      oneOf: { state: INSTANCE_RENAMABLE },
      unchanged: { protection_status: instance.protection_status, last_backup_id: instance.last_backup_id, ...unchanged },
    },
    (current) => protectionError(instance.id, current),
  );

export function protectionError(instanceId: string, current: Item | undefined): Error {
  if (current === undefined) return notFound("instance");
  const { through } = LIFECYCLE["instance.delete"];
  return current["state"] === through ? instanceBeingDeleted(through) : policyOvertaken(instanceId);
}

/**
 * The policies for which there is something to do, longest due first. The index may lag behind; the writes check the revision.
 */
export async function duePolicies(at: string): Promise<PolicyRecord[]> {
  const shards = await Promise.all(Array.from({ length: POLICY_SHARDS }, (_, shard) => dueIn(shard, at)));
  return shards
    .flat()
    .toSorted((a, b) => (a.number < b.number ? -1 : 1))
    .map(({ policy }) => policy);
}

async function dueIn(shard: number, at: string): Promise<{ number: string; policy: PolicyRecord }[]> {
  const due: { number: string; policy: PolicyRecord }[] = [];
  let more: Record<string, unknown> | undefined;
  do {
    const page = await query({
      IndexName: "byStatus",
      KeyConditionExpression: "#list = :list AND #number < :until",
      ExpressionAttributeNames: { "#list": "list_status", "#number": "number" },
      ExpressionAttributeValues: { ":list": keys.policiesDue(shard), ":until": keys.policyDue(at, "~") },
      ...(more !== undefined && { ExclusiveStartKey: more }),
    });
    for (const item of page.items) {
      const policy = parseOrSkip(PolicyRecord, item);
      if (policy !== undefined) due.push({ number: String(item["number"]), policy });
    }
    more = page.more;
  } while (more !== undefined);
  return due;
}
