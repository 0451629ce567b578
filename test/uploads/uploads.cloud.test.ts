// POST /backups/uploads, its parts, and how it ends
import { randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { Event } from "../../shared/api/events.ts";
import * as uploads from "../../shared/api/uploads.ts";
import { Upload } from "../../shared/api/uploads.ts";
import { find } from "../../shared/data/table.ts";
import { type UploadRecord, uploadRef } from "../../shared/records/uploads.ts";
import { buildArchiveKey } from "../../shared/storage/archive-key.ts";
import { heldParts } from "../../shared/storage/uploads.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { seedServer } from "../harness/seed.ts";
import { addressesOf, sendPart, sha256Of } from "../harness/upload.ts";

let cloud: TestCloud;
let me: TestAccount;
beforeAll(async () => {
  cloud = await processCloud();
  me = await account({ seeded: true });
});
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
  const current = (await me.api.get(`/backups/uploads/${upload.id}`)).as(Upload);
  expect(current).toEqual({ ...upload, parts: [{ number: 1, size_bytes: 1000, sha256: sha256Of(bytes) }] });
  await me.api.delete(`/backups/uploads/${upload.id}`);
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
    const request =
      path === ""
        ? me.api.get(`/backups/uploads/${id}`)
        : me.api.post(`/backups/uploads/${id}/parts`, { parts: [{ number: 1, sha256: sha256Of(bytes) }] });
    expect((await request).status).toBe(404);
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
