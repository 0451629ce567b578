// The dry run of a backup policy: what its rules would remove, and then do remove.
import { expect, test } from "vitest";
import { DryRun } from "../../shared/api/dry-run.ts";
import { account } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import { holdWork } from "../harness/held-work.ts";
import { age, backupsOf, minutesAgo, NIGHTLY, policyOf, put, scheduleOf, shift } from "./policies.ts";

const cloud = await processCloud();
const { tick } = scheduleOf(cloud);

test("a dry run of a policy lists the backups that its rules would remove, and removes none", async () => {
  const me = await account({ seeded: true });
  const { id } = await me.instance();
  await me.api.put(`/instances/${id}/backup-policy`, { ...NIGHTLY, keep: { last: 5 } });
  await tick();
  const [first] = await backupsOf(me, id);
  await age(me, String(first?.id), minutesAgo(3 * 24 * 60));
  await shift(me, id, { next_run_at: minutesAgo(20) });
  await tick();
  await tick();
  const rehearsed = (await me.api.put(`/instances/${id}/backup-policy?dry_run=true`, NIGHTLY)).as(DryRun);
  const [second] = await backupsOf(me, id);
  expect(rehearsed.effects.map(({ action, resource }) => [action, resource.id])).toEqual([
    ["update", id],
    ["delete", first?.id],
    ["delete", second?.id],
  ]);
  await tick();
  expect(await backupsOf(me, id)).toHaveLength(2);
  expect((await policyOf(me, id)).keep).toEqual({ last: 5 });
  await put(me, id);
  await age(me, String(second?.id), minutesAgo(24 * 60));
  await shift(me, id, { next_run_at: minutesAgo(20) });
  await tick();
  await tick();
  const backups = await backupsOf(me, id);
  expect(
    backups.map((backup) => backup.id),
    "as announced",
  ).not.toEqual(expect.arrayContaining([first?.id, second?.id]));
  expect(backups).toHaveLength(1);
});

test("a dry run of a policy counts the scheduled backup that is in progress as the one that it becomes", async () => {
  const me = await account({ seeded: true });
  const { id } = await me.instance();
  await put(me, id, { ...NIGHTLY, keep: { last: 5 } });
  await tick();
  const [first] = await backupsOf(me, id);
  await age(me, String(first?.id), minutesAgo(24 * 60));
  await shift(me, id, { next_run_at: minutesAgo(20) });
  const release = holdWork(cloud);
  await cloud.events.fire("runpolicies");
  const running = (await backupsOf(me, id)).find(({ status }) => status !== "completed");
  const removed = async (last: number) => {
    const { effects } = (await me.api.put(`/instances/${id}/backup-policy?dry_run=true`, { ...NIGHTLY, keep: { last } })).as(
      DryRun,
    );
    return effects.flatMap(({ action, resource }) => (action === "delete" ? [resource.id] : []));
  };
  expect(running).toBeDefined();
  expect(await removed(3)).toEqual([]);
  expect(await removed(2)).toEqual([first?.id]);
  expect(await removed(1)).toEqual([first?.id, running?.id]);
  release();
  await cloud.states.settled();
  expect(await removed(2)).toEqual([first?.id]);
});
