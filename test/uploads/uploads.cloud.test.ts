// POST /backups/uploads, its parts, and how it ends
import { randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { Backup } from "../../shared/api/backups.ts";
import { Event } from "../../shared/api/events.ts";
import * as uploads from "../../shared/api/uploads.ts";
import { Upload } from "../../shared/api/uploads.ts";
import { keys } from "../../shared/data/keys.ts";
import { find, readAll } from "../../shared/data/table.ts";
import { type UploadRecord, uploadRef } from "../../shared/records/uploads.ts";
import { buildArchiveKey } from "../../shared/storage/archive-key.ts";
import { storedObject } from "../../shared/storage/archives.ts";
import { heldParts } from "../../shared/storage/uploads.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { seedServer } from "../harness/seed.ts";
import { addressesOf, downloaded, sendPart, sha256Of, uploaded } from "../harness/upload.ts";

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

test("a part goes straight to the storage, and the upload shows it", async () => {
  const upload = await begin(me, { note: "from our old server" });
  expect(upload).toMatchObject({ size_bytes: 1000, part_size: 67_108_864, note: "from our old server", parts: [] });
  expect(Date.parse(upload.expires_at) - Date.parse(upload.created_at)).toBe(7 * 86_400_000);
  const before = Date.now();
  const response = await me.api.post(`/backups/uploads/${upload.id}/parts`, { parts: [{ number: 1, sha256: sha256Of(bytes) }] });
  const { parts, expires_at } = response.as(uploads.parts().data);
  expect(Date.parse(expires_at)).toBeGreaterThanOrEqual(before + 3_600_000 - 1000); // in whole seconds
  expect(Date.parse(expires_at)).toBeLessThanOrEqual(Date.now() + 3_600_000);
  expect(parts[0]?.url.startsWith(`${cloud.awsUrl}/`)).toBe(true);
  expect(await sendPart(parts[0] ?? { url: "", headers: {} }, bytes)).toBe(200);
  const shown = (await me.api.get(`/backups/uploads/${upload.id}`)).as(Upload);
  expect(shown).toEqual({ ...upload, parts: [{ number: 1, size_bytes: 1000, sha256: sha256Of(bytes) }] });
  await me.api.delete(`/backups/uploads/${upload.id}`);
});

test("a retry with the same key gets addresses that are signed anew, and the table keeps none of them", async () => {
  const { id } = await begin(me);
  const { id: credential, api } = await me.token();
  const ask = (sha256: string) =>
    api.post(`/backups/uploads/${id}/parts`, { parts: [{ number: 1, sha256 }] }, { headers: { "idempotency-key": "parts" } });
  const first = await ask(sha256Of(bytes));
  const [address] = first.as(uploads.parts().data).parts;
  await expect.poll(async () => (await ask(sha256Of(bytes))).as(uploads.parts().data).parts[0]?.url).not.toBe(address?.url);
  const again = await ask(sha256Of(bytes));
  expect(again.headers).not.toHaveProperty("idempotent-replayed");
  expect((await ask(sha256Of(randomBytes(10)))).error?.code).toBe("IDEMPOTENCY_KEY_REUSED");
  const [kept] = (await readAll([keys.idempotency(me.id, credential, "parts")])).values();
  expect(kept).toMatchObject({ answer: "" });
  const [signed] = again.as(uploads.parts().data).parts;
  expect(await sendPart(signed ?? { url: "", headers: {} }, bytes)).toBe(200);
  expect(await sendPart(address ?? { url: "", headers: {} }, bytes)).toBe(200); // the first upload is still the upload
  await me.api.delete(`/backups/uploads/${id}`);
});

test("the storage accepts a part only with the announced bytes, checksum and size", async () => {
  const { id } = await begin(me);
  const [address] = await addressesOf(me.api, id, [{ number: 1, sha256: sha256Of(bytes) }]);
  if (address === undefined) throw new Error("There is no address");
  const other = randomBytes(1000);
  expect(await sendPart(address, other)).toBe(400);
  const itsSum = { "x-amz-checksum-sha256": Buffer.from(sha256Of(other), "hex").toString("base64") };
  expect(await sendPart({ ...address, headers: itsSum }, other)).toBe(403);
  expect(await sendPart({ ...address, headers: {} }, bytes)).toBe(403);
  expect(await sendPart(address, bytes.subarray(1))).toBe(403);
  expect(await sendPart({ ...address, url: address.url.replace("partNumber=1", "partNumber=2") }, bytes)).toBe(403);
  expect((await me.api.get(`/backups/uploads/${id}`)).as(Upload).parts).toEqual([]);
  await me.api.delete(`/backups/uploads/${id}`);
});

test("in the test environment an upload has at most 64 MiB", async () => {
  const tooLarge = await me.api.post("/backups/uploads", { size_bytes: 64 * 1024 ** 2 + 1 });
  expect(tooLarge.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "size_bytes" } });
  const largest = await begin(me, { size_bytes: 64 * 1024 ** 2 });
  const beyond = await me.api.post(`/backups/uploads/${largest.id}/parts`, { parts: [{ number: 2, sha256: sha256Of(bytes) }] });
  expect(beyond.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "parts.0.number" } });
  await me.api.delete(`/backups/uploads/${largest.id}`);
});

test("a deleted upload is gone from the storage, and its addresses no longer work", async () => {
  const { id } = await begin(me);
  const [address] = await addressesOf(me.api, id, [{ number: 1, sha256: sha256Of(bytes) }]);
  if (address === undefined) throw new Error("There is no address");
  const path = `/backups/uploads/${id}`;
  const before = (await me.api.get(path)).headers["etag"] ?? "";
  await sendPart(address, bytes);
  const record = await recordOf(me, id);
  const deleteIf = (etag: string) => me.api.delete(path, { headers: { "if-match": etag } });
  expect((await deleteIf(before)).status).toBe(412);
  const now = (await me.api.get(path)).headers["etag"] ?? "";
  expect((await deleteIf(now)).as(uploads.delete().data)).toEqual({ id, deleted: true });
  expect(await isHeld(record)).toBe(false);
  expect(await sendPart(address, bytes)).toBe(404);
  for (const path of ["", "/parts"]) {
    const asked =
      path === ""
        ? me.api.get(`/backups/uploads/${id}`)
        : me.api.post(`/backups/uploads/${id}/parts`, { parts: [{ number: 1, sha256: sha256Of(bytes) }] });
    expect((await asked).status).toBe(404);
  }
  const events = (await me.api.get("/events")).as(Event.array()).filter(({ resource }) => resource.id === id);
  expect(events.map(({ type }) => type)).toEqual(["upload.delete", "upload.create"]);
});

test("an upload is completed only with all of its parts, and the error names the missing ones", async () => {
  const server = await me.server();
  const { id } = await begin(me);
  const complete = async (fields: object = {}) =>
    me.api.post(`/backups/uploads/${id}/complete`, { sha256: sha256Of(bytes), server_id: server.id, ...fields });
  expect((await complete()).error).toMatchObject({
    code: "INVALID_STATE",
    message: "Part 1 of the upload has not arrived",
    details: { status: "uploading", missing_parts: [1], missing_count: 1 },
  });
  expect((await complete({ server_id: unusedId("server") })).error).toMatchObject({ details: { field: "server_id" } });
  const offline = await seedServer(me.id, { state: "unreachable" });
  expect((await complete({ server_id: offline.id })).error).toMatchObject({
    code: "INVALID_STATE",
    details: { resource: offline.id },
  });
  expect((await me.api.get(`/backups/uploads/${id}`)).status).toBe(200); // none of it changed the upload
  await me.api.delete(`/backups/uploads/${id}`);
});

test("a retry with the same key gets the same backup", async () => {
  const one = await fresh();
  const server = await one.server();
  const archive = await downloaded(one.api, (await one.backup((await one.instance()).id)).id);
  const { id } = await uploaded(one.api, archive);
  const body = { sha256: sha256Of(archive), server_id: server.id };
  const ask = async () => one.api.post(`/backups/uploads/${id}/complete`, body, { headers: { "idempotency-key": "once" } });
  const [first, second] = [await ask(), await ask()];
  expect(second.as(Backup).id).toBe(first.as(Backup).id);
  await one.until(first.as(Backup).operation_id);
  expect(await storedObject(buildArchiveKey({ account_id: one.id, backup_id: first.as(Backup).id }))).toBeDefined();
});

test("another account's upload is like none", async () => {
  const { id } = await begin(me);
  const other = await fresh();
  const server = await other.server();
  const path = `/backups/uploads/${id}`;
  const parts = { parts: [{ number: 1, sha256: sha256Of(bytes) }] };
  const complete = { sha256: sha256Of(bytes), server_id: server.id };
  for (const response of [
    await other.api.get(path),
    await other.api.post(`${path}/parts`, parts),
    await other.api.post(`${path}/complete`, complete),
    await other.api.delete(path),
  ])
    expect(response.error).toMatchObject({ code: "NOT_FOUND", message: "No such upload" });
  await me.api.delete(path);
});
