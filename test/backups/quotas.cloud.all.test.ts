// The quotas of backups: how many an account has, and the bytes of all backups and uploads.
import { expect, test } from "vitest";
import * as z from "zod";
import { BackupPolicy } from "../../shared/api/policy-shown.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Settings } from "../../shared/api/settings.ts";
import { Event } from "../../shared/api/events.ts";
import { Upload } from "../../shared/api/uploads.ts";
import { startChange } from "../../shared/data/change.ts";
import { countAccount } from "../../shared/migrations/counting.ts";
import { getBackup } from "../../shared/records/backups.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { keys } from "../../shared/data/keys.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { queryAll, updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import { sha256Of, uploaded } from "../harness/upload.ts";
import { NIGHTLY, policyOf, put, scheduleOf } from "../backup-policy/policies.ts";
import { seedBackup } from "../harness/seed.ts";
import { expectCountedBackups, snapshotOf } from "../workflows/snapshot.ts";

const cloud = await processCloud();
const { tick } = scheduleOf(cloud);

const quotasOf = async (me: TestAccount) => (await me.api.get("/settings")).as(Settings).quotas;
const expectExact = async (me: TestAccount) => {
  await cloud.states.settled();
  expectCountedBackups(await snapshotOf(cloud, me.id));
};
const create = (me: TestAccount, instanceId: string) => me.api.post(`/instances/${instanceId}/backups`, {});
const overBackups = { code: "QUOTA_EXCEEDED", details: { resource: "backups", limit: 1 } };
const overBytes = (limit: number) => ({ code: "QUOTA_EXCEEDED", details: { resource: "backup_bytes", limit } });

test("an account has at most its quota of backups, whatever their status, and a deletion makes room", async () => {
  const me = await account({ seeded: true });
  const { id } = await me.instance();
  await setQuota(me.id, "backup", 1);
  const first = await me.backup(id);
  const { backups, backup_bytes } = await quotasOf(me);
  expect(backups).toEqual({ used: 1, limit: 1 });
  expect(backup_bytes.used).toBe(first.size_bytes);
  const rejected = await create(me, id);
  expect(rejected.status).toBe(409);
  expect(rejected.error).toMatchObject(overBackups);
  for (const query of ["", "?dry_run=true"])
    expect((await me.api.post(`/instances/${id}/actions${query}`, { action: "backup" })).error).toMatchObject(overBackups);
  await me.until((await me.api.delete(`/backups/${first.id}`)).as(z.looseObject({ id: z.string() })).id);
  expect(await quotasOf(me)).toMatchObject({ backups: { used: 0 }, backup_bytes: { used: 0 } });
  expect((await create(me, id)).status).toBe(201);
  await expectExact(me);
});

test("of backups, deletions and uploads at once, no more begin than the quotas allow, and the counts are exact", async () => {
  const me = await account({ seeded: true });
  const instances = await Promise.all([1, 2, 3, 4].map(() => me.instance()));
  const old = await Promise.all(instances.slice(0, 2).map(({ id }) => me.backup(id)));
  await setQuota(me.id, "backup", 3);
  const responses = await Promise.all([
    ...instances.map(({ id }) => create(me, id)),
    ...old.map(({ id }) => me.api.delete(`/backups/${id}`)),
    ...Array.from({ length: 4 }, () => me.api.post("/backups/uploads", { size_bytes: 1_000 })),
  ]);
  await expectExact(me);
  expect((await quotasOf(me)).backups.used).toBeLessThanOrEqual(3);
  expect(responses.slice(0, 4).filter(({ status }) => status === 201).length).toBeGreaterThanOrEqual(1);
});

test("uploads count the bytes that they announce; an import counts them on, and deletion, expiry and a failed import free them", async () => {
  const me = await account({ seeded: true });
  await setQuota(me.id, "backup_bytes", 1_500);
  const upload = (size_bytes: number) => me.api.post("/backups/uploads", { size_bytes });
  const responses = await Promise.all([upload(1_000), upload(1_000), upload(1_000)]);
  expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
  expect(responses.find(({ status }) => status === 409)?.error).toMatchObject(overBytes(1_500));
  expect((await upload(500)).status).toBe(201);
  expect((await upload(1)).error).toMatchObject(overBytes(1_500));
  expect((await quotasOf(me)).backup_bytes).toEqual({ used: 1_500, limit: 1_500 });
  const { id } = responses.find(({ status }) => status === 201)?.as(Upload) ?? { id: "" };
  await Promise.all([1, 2].map(() => me.api.delete(`/backups/uploads/${id}`)));
  expect((await quotasOf(me)).backup_bytes.used).toBe(500);

  const garbage = new Uint8Array(900).fill(65);
  const server = await me.server();
  const one = await uploaded(me.api, garbage);
  expect((await quotasOf(me)).backup_bytes.used).toBe(1_400);
  const completed = await me.api.post(`/backups/uploads/${one.id}/complete`, { sha256: sha256Of(garbage), server_id: server.id });
  const backup = completed.as(Backup);
  expect(await quotasOf(me)).toMatchObject({ backups: { used: 1 }, backup_bytes: { used: 1_400 } });
  await me.until(backup.operation_id, "failed");
  expect(await quotasOf(me)).toMatchObject({ backups: { used: 1 }, backup_bytes: { used: 500 } });
  await expectExact(me);

  const [uploadItem] = await queryAll(keys.upload(me.id, "").pk, { consistent: true });
  const past = new Date(Date.now() - 1_000).toISOString();
  await updateOne({ pk: String(uploadItem?.["pk"]), sk: String(uploadItem?.["sk"]) }, { set: { expires_at: past } }, {});
  const marker = { account_id: me.id, upload_id: uploadItem?.["sk"], backup_id: uploadItem?.["backup_id"] };
  await updateOne(keys.expiringUpload(past, String(uploadItem?.["sk"])), { set: marker }, { exists: false });
  await Promise.all([cloud.events.fire("expirebackups"), cloud.events.fire("expirebackups")]);
  await expectExact(me);
});

test("without room for bytes no backup begins, but a restore still takes its safety backup, which counts", async () => {
  const me = await account({ seeded: true });
  const { id } = await me.instance();
  const backup = await me.backup(id);
  await setQuota(me.id, "backup", 1);
  await setQuota(me.id, "backup_bytes", 1);
  expect((await create(me, id)).error?.code).toBe("QUOTA_EXCEEDED");
  await setQuota(me.id, "backup", 100);
  expect((await create(me, id)).error).toMatchObject(overBytes(1));
  await setQuota(me.id, "backup", 1);
  const restore = (await me.api.post(`/backups/${backup.id}/restore`, {})).as(z.looseObject({ id: z.string() }));
  await me.until(restore.id);
  expect((await quotasOf(me)).backups).toEqual({ used: 2, limit: 1 });
  await expectExact(me);
});

test("a policy's run that the quota stops is skipped with the reason, an event says so, and the next run takes place", async () => {
  const me = await account({ seeded: true });
  const { id } = await me.instance();
  const backup = await me.backup(id);
  await setQuota(me.id, "backup", 1);
  await put(me, id);
  await tick();
  const { last_run, next_run_at } = (await me.api.get(`/instances/${id}/backup-policy`)).as(BackupPolicy);
  expect(last_run).toMatchObject({ status: "skipped", backup_id: null, reason: expect.stringContaining("at most 1 backup") });
  expect(next_run_at).toMatch(/T02:00:00\.000Z$/);
  expect((await policyOf(me, id)).due).toBeNull();
  const events = (await me.api.get("/events?type=backup_policy.run_skipped")).as(Event.array());
  expect(events.map(({ resource }) => resource.id)).toEqual([id]);
  await me.until((await me.api.delete(`/backups/${backup.id}`)).as(z.looseObject({ id: z.string() })).id);
  await me.api.delete(`/instances/${id}/backup-policy`);
  await put(me, id, NIGHTLY);
  await tick();
  expect((await me.api.get(`/instances/${id}/backups`)).as(Backup.array())).toMatchObject([{ kind: "scheduled" }]);
  await expectExact(me);
});

/** Changes an account, its backups and its uploads to what a version before the quotas wrote. */
async function makeOld(me: TestAccount): Promise<void> {
  const account = ["used_backup", "used_backup_bytes", "limit_backup", "limit_backup_bytes"];
  await updateOne(keys.account(me.id), { remove: account }, {});
  for (const { pk } of [keys.record("backup", me.id, ""), keys.upload(me.id, "")])
    for (const { sk } of await queryAll(pk, { consistent: true }))
      await updateOne({ pk, sk: String(sk) }, { remove: ["counted_bytes", "counted"] }, {});
}

test("backups and uploads from before the quotas count after the first migration, whatever changes meanwhile, and once", async () => {
  const me = await account({ seeded: true });
  const instances = await Promise.all([1, 2, 3].map(() => me.instance()));
  const old = await Promise.all(instances.map(({ id }) => me.backup(id)));
  for (const { id } of instances) {
    const instance = await getInstance(me.id, id);
    for (let i = 0; i < 20; i++) await seedBackup(instance, { size_bytes: 7 });
  }
  const uploads = [500, 600];
  for (const size_bytes of uploads) await me.api.post("/backups/uploads", { size_bytes });
  await makeOld(me);

  // An old account works before the migration, and nothing becomes negative.
  await me.until((await me.api.delete(`/backups/${old[0]?.id}`)).as(z.looseObject({ id: z.string() })).id);
  expect(await quotasOf(me)).toMatchObject({ backups: { used: 0, limit: 10_000 }, backup_bytes: { used: 0 } });
  const [first] = await queryAll(keys.upload(me.id, "").pk, { consistent: true });

  await Promise.all([
    countAccount(me.id),
    countAccount(me.id),
    ...instances.map(({ id }) => create(me, id)),
    me.api.delete(`/backups/${old[1]?.id}`),
    me.api.delete(`/backups/uploads/${String(first?.["id"])}`),
  ]);
  await cloud.states.settled();
  await countAccount(me.id);
  await expectExact(me);
  const records = await queryAll(keys.record("backup", me.id, "").pk, { consistent: true });
  const uploadItems = await queryAll(keys.upload(me.id, "").pk, { consistent: true });
  const sum = (items: readonly Record<string, unknown>[]) =>
    items.reduce((all, item) => all + Number(item["size_bytes"] ?? 0), 0);
  expect(await quotasOf(me)).toMatchObject({
    backups: { used: records.length },
    backup_bytes: { used: sum(records) + sum(uploadItems) },
  });

  // After a rollback, the older version removes a backup that was counted.
  const removed = await getBackup(me.id, old[2]?.id ?? "");
  const change = startChange({ id: me.id });
  change.removeListed({ kind: "backup", record: removed, status: removed.state }, {});
  await change.commit();
  await countAccount(me.id);
  await expectExact(me);
  expect((await quotasOf(me)).backups.used).toBe(records.length - 1);
});

test("an account without counters has its limits: none fits into a quota of none", async () => {
  const me = await account({ seeded: true });
  const { id } = await me.instance();
  await makeOld(me);
  await setQuota(me.id, "backup", 0);
  expect((await create(me, id)).error).toMatchObject({ code: "QUOTA_EXCEEDED", details: { resource: "backups", limit: 0 } });
  await setQuota(me.id, "backup", 10);
  await setQuota(me.id, "backup_bytes", 0);
  expect((await create(me, id)).error).toMatchObject(overBytes(0));
  expect((await me.api.post("/backups/uploads", { size_bytes: 2 })).error).toMatchObject(overBytes(0));
});
