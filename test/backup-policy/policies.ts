// Shared by tests of backup policies: sets them, moves them in time, and reads what became of them.
import * as z from "zod";
import { BackupPolicy } from "../../shared/api/policy-shown.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Instance } from "../../shared/api/instances.ts";
import { startChange } from "../../shared/data/change.ts";
import { keys } from "../../shared/data/keys.ts";
import { policyRef, savePolicy } from "../../shared/records/policies.ts";
import type { PolicyRecord } from "../../shared/records/schemas/backup-policy.ts";
import { find, updateOne } from "../../shared/data/table.ts";
import type { TestAccount } from "../harness/account.ts";
import type { TestCloud } from "../harness/facts.ts";

export const NIGHTLY = { schedule: "0 2 * * *", keep: { last: 1 } };

export const isSchedule = (principal: string): boolean => /runpolicies/i.test(principal);

/** The schedule function, and what it logs. */
export const scheduleOf = (cloud: Pick<TestCloud, "events" | "states" | "lambda" | "template">) => ({
  /** Runs it once, and everything that it starts to the end. */
  tick: async (): Promise<void> => {
    await cloud.events.fire("runpolicies");
    await cloud.states.settled();
  },
  /** A line arrives from the function's thread, which may be later than its response. */
  logOfSchedule: (): readonly string[] =>
    cloud.lambda.logs(cloud.template.functions.find(({ name }) => isSchedule(name))?.name ?? ""),
});

export const put = async (me: TestAccount, id: string, body: object = NIGHTLY): Promise<BackupPolicy> =>
  (await me.api.put(`/instances/${id}/backup-policy`, body)).as(BackupPolicy);

export async function policyOf(me: TestAccount, instanceId: string): Promise<PolicyRecord> {
  const policy = await find(policyRef(me.id, instanceId));
  if (policy === undefined) throw new Error("There is no policy");
  return policy;
}

/** Changes a policy as time would: `fields` are what it would be then. */
export async function shift(me: TestAccount, instanceId: string, fields: Partial<PolicyRecord>): Promise<void> {
  const policy = await policyOf(me, instanceId);
  const change = startChange({ id: me.id });
  savePolicy(change, policy, { ...policy, ...fields });
  await change.commit();
}

/** Makes a scheduled backup older. */
export const age = async (me: TestAccount, id: string, due_at: string): Promise<void> =>
  void (await updateOne(keys.record("backup", me.id, id), { set: { due_at, created_at: due_at } }, {}));

export const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
export const backupsOf = async (me: TestAccount, instanceId: string): Promise<Backup[]> =>
  (await me.api.get(`/instances/${instanceId}/backups`)).as(z.array(Backup));
export const instanceOf = async (me: TestAccount, id: string): Promise<Instance> =>
  (await me.api.get(`/instances/${id}`)).as(Instance);

/** Describes each backup in words, such as "scheduled completed". */
export const shownOf = (backups: readonly Backup[]) => backups.map(({ kind, status }) => `${kind} ${status}`);
