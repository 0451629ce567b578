// Uploads that are retried, too large, not what was announced, or another account's.
import { randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { Backup } from "../../shared/api/backups.ts";
import * as uploads from "../../shared/api/uploads.ts";
import { Upload } from "../../shared/api/uploads.ts";
import { keys } from "../../shared/data/keys.ts";
import { readAll } from "../../shared/data/table.ts";
import { buildArchiveKey } from "../../shared/storage/archive-key.ts";
import { storedObject } from "../../shared/storage/archives.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import { addressesOf, downloaded, sendPart, sha256Of, uploaded } from "../harness/upload.ts";

let me: TestAccount;
beforeAll(async () => {
  await processCloud();
  me = await account({ seeded: true });
});

const fresh = () => account({ seeded: true });
const bytes = randomBytes(1000);
const begin = async (of: TestAccount, fields: object = {}): Promise<Upload> =>
  (await of.api.post("/backups/uploads", { size_bytes: bytes.length, ...fields })).as(Upload);

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
  const [storedRequest] = (await readAll([keys.idempotency(me.id, credential, "parts")])).values();
  expect(storedRequest).toMatchObject({ answer: "" });
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
