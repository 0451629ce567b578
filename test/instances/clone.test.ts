// POST /instances/:id/clone
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Backup } from "../../shared/api/backups.ts";
import type { BackupStatus } from "../../shared/domain/lifecycle.ts";
import * as instances from "../../shared/api/instances.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { type TestAccount, unusedId } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { cloneBody, cloneSource, DATA } from "./clone-source.ts";

let me: TestAccount;
let source: Instance;
let backup: Backup;
let api: Client;

beforeAll(async () => {
  ({ me, source, backup } = await cloneSource());
});
beforeEach(async () => {
  api = (await me.token()).api;
});

const clone = (fields: Record<string, unknown> = {}, id = source.id) =>
  api.post(`/instances/${id}/clone`, cloneBody(backup, fields));
const dataOf = async (id: string) => JSON.parse((await api.get(`/sandbox/instances/${id}/data`)).text).data as unknown;

test("a clone is a new instance with the backup's data and its own identity, neutralized", async () => {
  const body = cloneBody(backup);
  const response = await api.post(`/instances/${source.id}/clone`, body);
  const { admin_password, ...copy } = response.as(instances.clone().data);
  expect(response.headers["location"]).toBe(`/api/v1/instances/${copy.id}`);
  expect(admin_password).toMatch(/^\S{16,}$/);
  // Named from the start, so that clients know what they cannot delete meanwhile.
  expect((await api.get(`/operations/${copy.operation_id}`)).as(Operation).result).toMatchObject({ backup_id: backup.id });
  expect(copy).toMatchObject({
    name: body.name,
    domain: body.domain,
    status: "provisioning",
    server_id: source.server_id,
    erp_version: "18.0",
    edition: backup.edition,
    admin_email: source.admin_email,
    cloned_from_backup_id: backup.id,
    neutralized: true,
    database_name: expect.stringMatching(/^staging_?[a-z0-9_]*$/),
    allowed_actions: [],
  });
  expect(copy.id).not.toBe(source.id);
  expect(copy.database_name).not.toBe(source.database_name);

  const { result } = await me.until(copy.operation_id);
  expect(result?.verification).toEqual({
    is_neutralized: true,
    active_crons: 0,
    active_mail_servers: 0,
    new_database_uuid: true,
    base_url: `https://${body.domain}`,
  });
  expect((await api.get(`/instances/${copy.id}`)).as(Instance)).toMatchObject({ status: "running", operation_id: null });
  expect(await dataOf(copy.id)).toEqual(DATA);
  expect(await dataOf(source.id)).toEqual({ note: "after the backup" });
  expect((await api.get(`/operations/${copy.operation_id}`)).as(Operation).type).toBe("instance.clone");
});

describe("admin_password", () => {
  test.each(["elevenchars", "x".repeat(129), "with\u0000a NUL in it", "with\na line break"])(
    "the admin password %j is invalid",
    async (admin_password) => {
      expect((await clone({ admin_password })).error).toMatchObject({
        code: "VALIDATION_ERROR",
        details: { field: "admin_password" },
      });
    },
  );
});

test("a clone of neither the database nor the files is invalid", async () => {
  const { error } = await clone({ restore_database: false, restore_filestore: false });
  expect(error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "restore_database" } });
});

describe("rejected clones", () => {
  test("a clone with a taken domain or database name is rejected", async () => {
    expect((await clone({ domain: source.domain })).error).toMatchObject({
      code: "CONFLICT",
      details: { field: "domain", resource: source.id },
    });
    const { error } = await clone({ database_name: source.database_name });
    expect(error).toMatchObject({ code: "CONFLICT", details: { field: "database_name" } });
  });

  test("a clone of an unknown backup or another instance's backup is rejected", async () => {
    const other = await seedInstance(me.id);
    const otherBackup = await seedBackup(other);
    for (const backup_id of [unusedId("backup"), otherBackup.id]) {
      const response = await clone({ backup_id });
      expect(response.status).toBe(422);
      expect(response.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "backup_id" } });
    }
  });

  test.each<BackupStatus>(["pending", "running", "failed", "deleting"])(
    "a clone of a backup that is %s is rejected",
    async (state) => {
      const instance = await seedInstance(me.id);
      const unfinished = await seedBackup(instance, { state });
      const { error } = await clone({ backup_id: unfinished.id }, instance.id);
      expect(error).toMatchObject({ code: "INVALID_STATE", details: { status: state } });
    },
  );

  test("a clone on a server that is not active is rejected, whether given or the source's own", async () => {
    const server = await seedServer(me.id, { state: "unreachable" });
    const details = { status: "offline", resource: server.id };
    expect((await clone({ server_id: server.id })).error).toMatchObject({ code: "INVALID_STATE", details });
    const instance = await seedInstance(me.id, { server_id: server.id });
    const otherBackup = await seedBackup(instance);
    expect((await clone({ backup_id: otherBackup.id }, instance.id)).error).toMatchObject({ code: "INVALID_STATE", details });
  });

  test("a clone needs the permission to restore, because it exposes the whole backup", async () => {
    const { api: writer } = await me.token(["instances:write"]);
    const response = await writer.post(`/instances/${source.id}/clone`, cloneBody(backup));
    expect(response.error?.message).toBe("Token does not have permission: backups:restore");
  });
});
