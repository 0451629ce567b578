// Runs of backup policies: the schedule makes them, their retention removes backups, and whatever happens a due run is made once.
import { expect, test } from "vitest";
import { BackupPolicy } from "../../shared/api/policy-shown.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import * as overview from "../../shared/api/overview.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { account } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import { seedInstance } from "../harness/seed.ts";
import { age, backupsOf, instanceOf, minutesAgo, NIGHTLY, policyOf, put, scheduleOf, shift } from "./policies.ts";

const cloud = await processCloud();
const { tick } = scheduleOf(cloud);

test("a policy makes its first backup at once, the next ones when they are due, and retention removes the oldest", async () => {
  const me = await account({ seeded: true });
  const instance = await me.instance();
  const policy = (await me.api.put(`/instances/${instance.id}/backup-policy`, NIGHTLY)).as(BackupPolicy);
  expect(policy).toMatchObject({ ...NIGHTLY, timezone: "UTC", drill_every_days: null, enabled: true, last_run: null });
  expect(Date.parse(policy.next_run_at ?? "")).toBeLessThanOrEqual(Date.now());
  await tick();
  const { next_run_at } = await policyOf(me, instance.id);
  expect(next_run_at).toMatch(/T02:00:00\.000Z$/);
  const [first] = await backupsOf(me, instance.id);
  expect(first).toMatchObject({ kind: "scheduled", status: "completed" });
  expect((await instanceOf(me, instance.id)).protection).toEqual({
    status: "protected",
    last_backup_at: first?.completed_at,
    next_backup_at: next_run_at,
  });
  const revision = async () => (await me.api.get("/overview")).as(overview.get().data).revision;
  const before = await revision();
  await tick();
  expect((await backupsOf(me, instance.id)).map(({ retained_by }) => retained_by)).toEqual([["last"]]);
  expect(await revision(), "whoever follows it sees the rules").toBeGreaterThan(before);
  await age(me, String(first?.id), minutesAgo(60));
  await shift(me, instance.id, { next_run_at: minutesAgo(20) });
  await tick();
  await tick();
  const backups = await backupsOf(me, instance.id);
  expect(backups.map(({ kind, status, retained_by }) => ({ kind, status, retained_by }))).toEqual([
    { kind: "scheduled", status: "completed", retained_by: ["last"] },
  ]);
  expect(backups[0]?.id).not.toBe(first?.id);
  const { last_run } = (await me.api.get(`/instances/${instance.id}/backup-policy`)).as(BackupPolicy);
  expect(last_run).toMatchObject({ status: "completed", backup_id: backups[0]?.id, reason: null });
  await tick();
  expect(await backupsOf(me, instance.id)).toHaveLength(1);
});

test("a policy shows its next five runs, in the canonical spelling of its time zone", async () => {
  const me = await account({ seeded: true });
  const { id } = await seedInstance(me.id, { last_backup_at: minutesAgo(9), last_backup_begun_at: minutesAgo(10) });
  const policy = await put(me, id, { ...NIGHTLY, timezone: "asia/kolkata" });
  expect(policy).toMatchObject({ timezone: "Asia/Kolkata" });
  expect(policy.next_runs).toHaveLength(5);
  expect(policy.next_runs[0]).toBe(policy.next_run_at);
  for (const [place, run] of policy.next_runs.entries())
    expect(Date.parse(run) - Date.parse(String(policy.next_run_at))).toBe(place * 24 * 60 * 60_000);
  expect((await me.api.get(`/instances/${id}/backup-policy`)).as(BackupPolicy)).toEqual(policy);
  const rehearsed = (await me.api.put(`/instances/${id}/backup-policy?dry_run=true`, { ...NIGHTLY, schedule: "0 2 1-7 * 1" })).as(
    DryRun,
  );
  expect(rehearsed.next_runs).toHaveLength(5);
  expect(rehearsed.warnings).toEqual([expect.stringContaining("either of its day of the month (1-7) and its weekday (1)")]);
  await updateOne(keys.record("instance", me.id, id), { set: { last_backup_at: null } }, {});
  const atOnce = await put(me, id);
  expect(atOnce.next_runs).toHaveLength(5);
  expect(Date.parse(String(atOnce.next_runs[0]))).toBeLessThanOrEqual(Date.now());
  expect(atOnce.next_runs[1]).toMatch(/T02:00:00\.000Z$/);
});

test("a PUT with `If-None-Match: *` creates a policy, and replaces none, not even one that is set at the same time", async () => {
  const me = await account({ seeded: true });
  const { id } = await seedInstance(me.id);
  const create = (schedule: string) =>
    me.api.put(`/instances/${id}/backup-policy`, { ...NIGHTLY, schedule }, { headers: { "If-None-Match": "*" } });
  const responses = await Promise.all(["0 1 * * *", "0 2 * * *", "0 3 * * *"].map(create));
  expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412, 412]);
  const [winner] = responses.filter(({ status }) => status === 200);
  const later = await create("0 4 * * *");
  expect(later).toMatchObject({
    status: 412,
    error: {
      code: "PRECONDITION_FAILED",
      message: expect.stringContaining("If-None-Match"),
      details: { etag: winner?.headers["etag"] },
    },
  });
  expect((await me.api.get(`/instances/${id}/backup-policy`)).as(BackupPolicy).schedule).toBe(winner?.as(BackupPolicy).schedule);
});
