// Runs of backup policies: the schedule makes them, their retention removes backups, and whatever happens a due run is made once.
import { expect, test } from "vitest";
import * as z from "zod";
import { BackupPolicy } from "../../shared/api/backup-policy.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Instance } from "../../shared/api/instances.ts";
import { keys } from "../../shared/data/keys.ts";
import { policyRef, savePolicy } from "../../shared/data/policies.ts";
import { changeOf } from "../../shared/data/change.ts";
import type { PolicyRecord } from "../../shared/data/records.ts";
import { find, updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { ownCloud } from "../harness/cloud.ts";

const cloud = await ownCloud();
const tick = async (): Promise<void> => {
  await cloud.events.fire("runpolicies");
  await cloud.states.settled();
};

async function policyOf(me: TestAccount, instanceId: string): Promise<PolicyRecord> {
  const policy = await find(policyRef(me.id, instanceId));
  if (policy === undefined) throw new Error("There is no policy");
  return policy;
}

/** Changes a policy as time would: `fields` are what it would be then. */
async function shift(me: TestAccount, instanceId: string, fields: Partial<PolicyRecord>): Promise<void> {
  const policy = await policyOf(me, instanceId);
  const change = changeOf({ id: me.id });
  savePolicy(change, policy, { ...policy, ...fields });
  await change.commit();
}

/** Makes a scheduled backup older. */
const age = async (me: TestAccount, id: string, due_at: string): Promise<void> =>
  void (await updateOne(keys.record("backup", me.id, id), { set: { due_at, created_at: due_at } }, {}));

const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
const backupsOf = async (me: TestAccount, instanceId: string): Promise<Backup[]> =>
  (await me.api.get(`/instances/${instanceId}/backups`)).as(z.array(Backup));
const instanceOf = async (me: TestAccount, id: string): Promise<Instance> => (await me.api.get(`/instances/${id}`)).as(Instance);

const NIGHTLY = { schedule: "0 2 * * *", keep: { last: 1 } };

test("a policy makes its first backup at once, the next ones when they are due, and retention removes the oldest", async () => {
  const me = await account();
  const instance = await me.instance();
  const policy = (await me.api.put(`/instances/${instance.id}/backup-policy`, NIGHTLY)).as(BackupPolicy);
  expect(policy).toMatchObject({ ...NIGHTLY, timezone: "UTC", drill_every_days: null, enabled: true, last_run: null });
  expect(policy.next_run_at).toMatch(/T02:00:00\.000Z$/);
  await tick();
  const [first] = await backupsOf(me, instance.id);
  expect(first).toMatchObject({ kind: "scheduled", status: "completed" });
  expect((await instanceOf(me, instance.id)).protection).toEqual({
    status: "protected",
    last_backup_at: first?.completed_at,
    next_backup_at: policy.next_run_at,
  });
  await tick();
  expect((await backupsOf(me, instance.id)).map(({ retained_by }) => retained_by)).toEqual([["last"]]);
  await age(me, String(first?.id), minutesAgo(60));
  await shift(me, instance.id, { next_run_at: minutesAgo(20) });
  await tick();
  await tick();
  const left = await backupsOf(me, instance.id);
  expect(left.map(({ kind, status, retained_by }) => ({ kind, status, retained_by }))).toEqual([
    { kind: "scheduled", status: "completed", retained_by: ["last"] },
  ]);
  expect(left[0]?.id).not.toBe(first?.id);
  const { last_run } = (await me.api.get(`/instances/${instance.id}/backup-policy`)).as(BackupPolicy);
  expect(last_run).toMatchObject({ status: "completed", backup_id: left[0]?.id, reason: null });
  await tick();
  expect(await backupsOf(me, instance.id)).toHaveLength(1);
});
