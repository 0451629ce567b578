// Moving in: an uploaded archive becomes a backup, and an instance begins with it.
import { beforeAll, expect, test } from "vitest";
import { Backup } from "../../shared/api/backups.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import * as instances from "../../shared/api/instances.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import type { Server } from "../../shared/api/servers.ts";
import { archiveKey } from "../../shared/storage/archive-key.ts";
import { storedObject } from "../../shared/storage/archives.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { downloaded, imported, sha256Of, uploaded } from "../harness/upload.ts";
import { erpOf } from "./erp-of.ts";

let me: TestAccount;
let server: Server;
/** An archive that a sandbox made. */
let archive: Uint8Array;
let source: Instance;
beforeAll(async () => {
  me = await account({ seeded: true });
  source = await me.instance();
  server = await me.server();
  archive = await downloaded(me.api, (await me.backup(source.id)).id);
});

const show = async (id: string): Promise<Backup> => (await me.api.get(`/backups/${id}`)).as(Backup);
const moveIn = (backup: { id: string }, fields: object = {}) =>
  me.instanceBody({ server_id: server.id, backup_id: backup.id, ...fields });

test("a downloaded archive can be uploaded again, and says what it is", async () => {
  const { api } = await me.token();
  const { id } = await uploaded(api, archive, { note: "from our old server", file_name: "shop.zip" });
  const response = await api.post(`/backups/uploads/${id}/complete`, { sha256: sha256Of(archive), server_id: server.id });
  const backup = response.as(Backup);
  expect(response.headers["location"]).toBe(`/api/v1/backups/${backup.id}`);
  const unknown = { instance_id: null, instance_name: null, erp_version: null, edition: null, database_name: null };
  expect(backup).toMatchObject({
    kind: "uploaded",
    status: "pending",
    note: "from our old server",
    size_bytes: null,
    ...unknown,
  });
  const operation = await me.until(backup.operation_id);
  expect(operation).toMatchObject({ type: "backup.import", result: { backup_id: backup.id } });
  expect(await show(backup.id)).toMatchObject({
    status: "completed",
    erp_version: "19.0",
    edition: "community",
    database_name: source.database_name,
    size_bytes: archive.length,
    sha256: sha256Of(archive),
    missing_files: 0,
    operation_id: null,
    expires_at: null,
    file_name: "shop.zip",
  });
  expect(await downloaded(api, backup.id)).toEqual(archive);
  expect((await api.get(`/operations?resource_id=${server.id}`)).text).toContain(operation.id);
  expect((await api.get("/backups?status=completed")).text).toContain(backup.id);
  for (const query of ["/backups?search=", "/search?q="])
    expect((await api.get(`${query}${source.database_name}`)).text).toContain(backup.id);
  expect((await api.post(`/backups/${backup.id}/restore`, {})).error).toMatchObject({ code: "INVALID_STATE" });
  const drill = await api.post(`/backups/${backup.id}/drill`, {});
  expect(drill.error).toMatchObject({ details: { field: "server_id" } });
  const drillOperation = (await api.post(`/backups/${backup.id}/drill`, { server_id: server.id })).as(Operation);
  expect((await me.until(drillOperation.id)).result?.drill?.status).toBe("passed");
  await me.until((await api.delete(`/backups/${backup.id}`)).as(Operation).id);
  expect(await storedObject(archiveKey({ account_id: me.id, id: backup.id }))).toBeUndefined();
});

test("an instance begins with an uploaded backup, keeps its database UUID, and its administrator gets the new password", async () => {
  const backup = await imported(me, archive, server.id);
  const { api } = await me.token();
  const original = await erpOf(me, source.id);
  const admin_password = "correct-horse-battery";
  const response = await api.post("/instances", await moveIn(backup, { admin_password }));
  const instance = response.as(instances.create().data);
  expect(instance).toMatchObject({ cloned_from_backup_id: backup.id, neutralized: false });
  expect(instance.admin_password).toBeUndefined();
  const operation = await me.until(instance.operation_id);
  expect(operation.type).toBe("instance.clone");
  expect(JSON.stringify(operation)).not.toContain(admin_password);
  const { database } = await erpOf(me, instance.id);
  expect(database).toMatchObject({
    uuid: original.database.uuid,
    neutralized: false,
    admin_login: "admin@example.com",
    base_url: `https://${instance.domain}`,
    users: original.database.users,
  });
  expect(database.admin_password_hash).not.toBe(original.database.admin_password_hash);
  expect(database.secret).not.toBe(original.database.secret);
  expect((await api.get(`/instances/${instance.id}`)).as(Instance)).toMatchObject({ status: "running", neutralized: false });
});

test("a dry run of moving in says what happens, and what still runs elsewhere", async () => {
  const backup = await imported(me, archive, server.id);
  const body = await moveIn(backup);
  const forecast = (await me.api.post("/instances?dry_run=true", body)).as(DryRun);
  expect(forecast.effects.map(({ action }) => action)).toEqual(["create", "read"]);
  expect(forecast.warnings).toContainEqual(expect.stringContaining("stop the original first"));
  expect((await me.api.get("/instances?per_page=100")).text).not.toContain(body.domain);
});
