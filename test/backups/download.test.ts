// GET /backups/:id/download
import { createHash } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { strFromU8, unzipSync } from "fflate";
import * as backups from "../../shared/api/backups.ts";
import { Backup } from "../../shared/api/backups.ts";
import type { BackupStatus } from "../../shared/domain/lifecycle.ts";
import * as events from "../../shared/api/events.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";

let me: TestAccount;
let backup: Backup;
beforeAll(async () => {
  me = await account({ seeded: true });
  const instance = await me.instance();
  await me.api.put(`/sandbox/instances/${instance.id}/data`, { orders: 42, note: "in the archive" });
  backup = await me.backup(instance.id);
});

const address = async () => (await me.api.get(`/backups/${backup.id}/download`)).as(backups.download().data);

test("the download URL returns the ERP's own zip without a token for 15 minutes, with the backup's size and SHA-256", async () => {
  const before = Date.now();
  const { url, expires_at } = await address();
  const lasts = 15 * 60_000;
  expect(Date.parse(expires_at)).toBeGreaterThanOrEqual(before + lasts - 1000); // in whole seconds
  expect(Date.parse(expires_at)).toBeLessThanOrEqual(Date.now() + lasts);
  const response = await fetch(url);
  expect(response.status).toBe(200);
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect(bytes.length).toBe(backup.size_bytes);
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(backup.sha256);
  const files = unzipSync(bytes);
  expect(Object.keys(files)).toEqual(expect.arrayContaining(["dump.sql", "manifest.json"]));
  expect(Object.keys(files).filter((name) => !/^(dump\.sql|manifest\.json|filestore\/.*)$/.test(name))).toEqual([]);
  expect(strFromU8(files["dump.sql"] ?? new Uint8Array())).toContain("in the archive");
  expect(JSON.parse(strFromU8(files["manifest.json"] ?? new Uint8Array()))).toMatchObject({
    odoo_dump: "1",
    db_name: backup.database_name,
    major_version: backup.erp_version,
  });
});

test("every download URL is recorded in the audit log with the user, the backup and the IP address", async () => {
  const reader = await me.token(["backups:restore"]);
  await reader.api.get(`/backups/${backup.id}/download`, { headers: { "x-request-id": "a-download" } });
  const [event] = (await me.api.get("/events?per_page=1")).as(events.list().data);
  expect(event).toMatchObject({
    type: "backup.download",
    actor: { type: "token", id: reader.id, ip_address: "127.0.0.1" },
    resource: { type: "backup", id: backup.id, name: backup.instance_name },
    request_id: "a-download",
  });
});

test("a modified download URL returns nothing", async () => {
  const { url } = await address();
  const other = await me.backup((await me.instance()).id);
  const changed = {
    "another backup's": url.replace(backup.id, other.id),
    "a longer life": url.replace(/(X-Amz-Expires=)\d+/, "$186400"),
    "another signature": url.replace(
      /(X-Amz-Signature=.{4})./,
      (_, prefix: string) => `${prefix}${url.includes(`${prefix}0`) ? "1" : "0"}`,
    ),
    "no signature": url.replace(/&X-Amz-Signature=[0-9a-f]+/, ""),
    "no query": url.split("?")[0] ?? "",
    "another file name": url.replace(/filename%3D/, "filename%3Dx"),
  };
  for (const [what, tampered] of Object.entries(changed)) {
    expect(tampered, what).not.toBe(url);
    expect((await fetch(tampered)).status, what).toBeGreaterThanOrEqual(400);
  }
  for (const method of ["PUT", "DELETE", "POST"])
    expect((await fetch(url, { method })).status, method).toBeGreaterThanOrEqual(400);
  expect((await fetch(url)).status).toBe(200);
});

test.each<BackupStatus>(["pending", "running", "failed", "deleting"])(
  "a backup that is %s has no download URL",
  async (state) => {
    const unfinished = await seedBackup(await seedInstance(me.id), { state });
    const { error } = await me.api.get(`/backups/${unfinished.id}/download`);
    expect(error).toMatchObject({ code: "INVALID_STATE", details: { status: state } });
  },
);

test("the permission to read backups does not include downloading them", async () => {
  const { api } = await me.token(["backups:read", "backups:write"]);
  expect((await api.get(`/backups/${backup.id}`)).status).toBe(200);
  expect((await api.get(`/backups/${backup.id}/download`)).error?.message).toBe(
    "Token does not have permission: backups:restore",
  );
});
