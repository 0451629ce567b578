// Uploads that are sent twice at once, expire, or whose removal or import fails.
import { randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { Backup } from "../../shared/api/backups.ts";
import { Event } from "../../shared/api/events.ts";
import { Upload } from "../../shared/api/uploads.ts";
import { keys } from "../../shared/data/keys.ts";
import { find, queryAll, removeOne, updateOne } from "../../shared/data/table.ts";
import { type UploadRecord, uploadRef } from "../../shared/records/uploads.ts";
import { buildArchiveKey } from "../../shared/storage/archive-key.ts";
import { heldParts, openUpload } from "../../shared/storage/uploads.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { backupFields } from "../harness/seed.ts";
import { addressesOf, downloaded, sha256Of, uploaded } from "../harness/upload.ts";

let cloud: TestCloud;
let me: TestAccount;
beforeAll(async () => {
  cloud = await processCloud();
  me = await account({ seeded: true });
});

const fresh = () => account({ seeded: true });
const bytes = randomBytes(1000);
const begin = async (of: TestAccount, fields: object = {}): Promise<Upload> =>
  (await of.api.post("/backups/uploads", { size_bytes: bytes.length, ...fields })).as(Upload);
const recordOf = async (of: TestAccount, id: string): Promise<UploadRecord> => {
  const found = await find(uploadRef(of.id, id));
  if (found === undefined) throw new Error("There is no such upload");
  return found;
};
/** What the storage holds of multipart uploads, in all accounts. */
const isHeld = async ({ store_id = "", ...record }: UploadRecord): Promise<boolean> =>
  heldParts(buildArchiveKey(record), store_id).then(
    () => true,
    () => false,
  );

test("two requests for the first part at once lead to the same multipart upload", async () => {
  const { id } = await begin(me);
  const one = { number: 1, sha256: sha256Of(bytes) };
  const all = await Promise.all([1, 2, 3].map(() => addressesOf(me.api, id, [one])));
  const ids = new Set(all.flat().map(({ url }) => new URL(url).searchParams.get("uploadId")));
  const record = await recordOf(me, id);
  expect([...ids]).toEqual([record.store_id]);
  // Aborts others, if there were any, and returns the oldest.
  expect(await openUpload(buildArchiveKey(record))).toBe(record.store_id);
  await me.api.delete(`/backups/uploads/${id}`);
});

test("an account has three unfinished uploads, however many it begins at once; another one's do not count", async () => {
  const [one, other] = [await fresh(), await fresh()];
  const responses = await Promise.all(Array.from({ length: 8 }, () => one.api.post("/backups/uploads", { size_bytes: 1 })));
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(3);
  const rejected = responses.find(({ status }) => status === 409)?.error;
  const uploads = responses.filter(({ status }) => status === 201).map((response) => response.as(Upload));
  const listed = uploads.map(({ id, size_bytes, note, created_at }) => ({ id, size_bytes, note, created_at }));
  expect(rejected).toMatchObject({ code: "QUOTA_EXCEEDED", details: { resource: "upload", limit: 3 } });
  const all = (await one.api.post("/backups/uploads", { size_bytes: 1 })).error?.details?.["uploads"];
  expect(all).toHaveLength(3);
  expect(all).toEqual(expect.arrayContaining(listed));
  await begin(other);
  const deletions = await Promise.all([1, 2].map(() => one.api.delete(`/backups/uploads/${uploads[0]?.id}`)));
  expect(deletions.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404]);
  await begin(one);
  expect((await one.api.post("/backups/uploads", { size_bytes: 1 })).error?.code).toBe("QUOTA_EXCEEDED");
});

test("what a deletion could not remove, because the storage was down, the schedule removes", async () => {
  const { id } = await begin(me);
  await addressesOf(me.api, id, [{ number: 1, sha256: sha256Of(bytes) }]);
  const record = await recordOf(me, id);
  cloud.aws.outage("s3", true);
  expect((await me.api.delete(`/backups/uploads/${id}`)).status).toBe(200);
  cloud.aws.outage("s3", false);
  expect(await isHeld(record)).toBe(true);
  await cloud.events.fire("expirebackups");
  expect(await isHeld(record)).toBe(false);
});

test("an expired upload is gone, and the schedule removes its parts, once, also if it runs twice at once", async () => {
  const one = await fresh();
  const { id, expires_at } = await begin(one);
  await addressesOf(one.api, id, [{ number: 1, sha256: sha256Of(bytes) }]);
  const past = new Date(Date.now() - 1000).toISOString();
  await updateOne(keys.upload(one.id, id), { set: { expires_at: past } }, {});
  await updateOne(
    keys.expiringUpload(past, id),
    { set: { account_id: one.id, upload_id: id, backup_id: (await recordOf(one, id)).backup_id } },
    { exists: false },
  );
  const record = await recordOf(one, id);
  expect((await one.api.get(`/backups/uploads/${id}`)).status).toBe(404);
  await Promise.all([cloud.events.fire("expirebackups"), cloud.events.fire("expirebackups")]);
  await cloud.events.fire("expirebackups");
  expect(await isHeld(record)).toBe(false);
  const markers = (await queryAll(keys.expiringUploads())).filter((item) => item["upload_id"] === id);
  expect(markers.map(({ sk }) => sk)).toEqual([`${expires_at}#${id}`]); // the marker that this test has made obsolete
  for (const _ of [1, 2, 3]) await begin(one);
  const events = (await one.api.get("/events")).as(Event.array()).filter(({ type }) => type === "upload.expire");
  expect(events).toHaveLength(1);
});

test("an upload that was put back and expires later is not removed by its earlier marker", async () => {
  const one = await fresh();
  const { id } = await begin(one);
  await addressesOf(one.api, id, [{ number: 1, sha256: sha256Of(bytes) }]);
  const record = await recordOf(one, id);
  const past = keys.expiringUpload(new Date(Date.now() - 1000).toISOString(), id);
  await updateOne(past, { set: { account_id: one.id, upload_id: id, backup_id: record.backup_id } }, { exists: false });
  await cloud.events.fire("expirebackups");
  expect(await recordOf(one, id)).toEqual(record);
  expect(await isHeld(record)).toBe(true);
  expect((await queryAll(keys.expiringUploads())).map(({ sk }) => sk)).not.toContain(past.sk);
});

test("an upload that has expired can be aborted, which makes room for another one", async () => {
  const one = await fresh();
  const [first] = [await begin(one), await begin(one), await begin(one)];
  await addressesOf(one.api, first.id, [{ number: 1, sha256: sha256Of(bytes) }]);
  await updateOne(keys.upload(one.id, first.id), { set: { expires_at: new Date(Date.now() - 1000).toISOString() } }, {});
  const record = await recordOf(one, first.id);
  expect((await one.api.post("/backups/uploads", { size_bytes: 1 })).error?.code).toBe("QUOTA_EXCEEDED");
  const deletions = [1, 2].map(() => one.api.delete(`/backups/uploads/${first.id}`));
  expect((await Promise.all(deletions)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404]);
  expect(await isHeld(record)).toBe(false);
  await begin(one);
});

test("an expired backup whose deletion cannot begin does not delay expired uploads", async () => {
  const one = await fresh();
  const { id } = await begin(one);
  const past = new Date(Date.now() - 1000).toISOString();
  const { backup_id } = await recordOf(one, id);
  await updateOne(keys.upload(one.id, id), { set: { expires_at: past } }, {});
  await updateOne(keys.expiringUpload(past, id), { set: { account_id: one.id, upload_id: id, backup_id } }, { exists: false });
  const nobody = unusedId("account");
  const [instance_id, failing] = [unusedId("instance"), unusedId("backup")];
  const instance = { id: instance_id, server_id: unusedId("server"), name: "Nobody's" };
  const backup = { ...backupFields(nobody, failing, failing, instance), state: "failed" };
  await updateOne(keys.record("backup", nobody, failing), { set: backup }, { exists: false });
  const marker = keys.expiringBackup(past, failing);
  await updateOne(marker, { set: { account_id: nobody, backup_id: failing, instance_id } }, { exists: false });
  await cloud.events.fire("expirebackups"); // fails, and is retried
  await removeOne(marker);
  expect(await find(uploadRef(one.id, id))).toBeUndefined();
});

test("an upload is completed once, however many requests complete or delete it at once", async () => {
  const one = await fresh();
  const server = await one.server();
  const archive = await downloaded(one.api, (await one.backup((await one.instance()).id)).id);
  const { id } = await uploaded(one.api, archive);
  const body = { sha256: sha256Of(archive), server_id: server.id };
  const path = `/backups/uploads/${id}`;
  const responses = await Promise.all([...[1, 2, 3].map(() => one.api.post(`${path}/complete`, body)), one.api.delete(path)]);
  const won = responses.filter(({ status }) => status < 300);
  expect(won).toHaveLength(1);
  for (const { status } of responses.filter((each) => !won.includes(each))) expect([404, 409]).toContain(status);
  await cloud.states.settled();
  expect((await one.api.post(`${path}/complete`, body)).status).toBe(404);
});

test("an upload whose import could not be started is as it was, and can be completed again", async () => {
  const one = await fresh();
  const server = await one.server();
  const archive = await downloaded(one.api, (await one.backup((await one.instance()).id)).id);
  const { id } = await uploaded(one.api, archive);
  const before = await recordOf(one, id);
  const complete = async () =>
    one.api.post(`/backups/uploads/${id}/complete`, { sha256: sha256Of(archive), server_id: server.id });
  cloud.aws.outage("states", true);
  try {
    expect((await complete()).status).toBe(503);
  } finally {
    cloud.aws.outage("states", false);
  }
  expect(await recordOf(one, id)).toEqual(before);
  const markers = (await queryAll(keys.expiringUploads())).filter((item) => item["upload_id"] === id);
  expect(markers.map(({ sk }) => sk)).toEqual([`${before.expires_at}#${id}`]);
  for (const _ of [1, 2]) await begin(one);
  expect((await one.api.post("/backups/uploads", { size_bytes: 1 })).error?.code, "the third is still there").toBe(
    "QUOTA_EXCEEDED",
  );
  await one.until((await complete()).as(Backup).operation_id);
});

test("an upload that would expire while its import cannot be started has an hour for another try", async () => {
  const one = await fresh();
  const server = await one.server();
  const archive = await downloaded(one.api, (await one.backup((await one.instance()).id)).id);
  const { id } = await uploaded(one.api, archive);
  const expires_at = new Date(Date.now() + 60_000).toISOString();
  await updateOne(keys.upload(one.id, id), { set: { expires_at } }, {});
  const began = Date.now();
  const body = { sha256: sha256Of(archive), server_id: server.id };
  cloud.aws.outage("states", true);
  try {
    expect((await one.api.post(`/backups/uploads/${id}/complete`, body)).status).toBe(503);
  } finally {
    cloud.aws.outage("states", false);
  }
  const restored = await recordOf(one, id);
  expect(Date.parse(restored.expires_at)).toBeGreaterThanOrEqual(began + 3_600_000);
  const markers = (await queryAll(keys.expiringUploads())).filter((item) => item["upload_id"] === id);
  expect(markers.map(({ sk }) => sk)).toContain(`${restored.expires_at}#${id}`);
});
