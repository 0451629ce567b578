// POST /instances/:id/clone: what a clone may leave out, bring along or be made of, each to its end.
import { beforeAll, beforeEach, expect, test } from "vitest";
import { Backup } from "../../shared/api/backups.ts";
import * as instances from "../../shared/api/instances.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { findErp } from "../../shared/providers/sandbox/machines.ts";
import { getServer } from "../../shared/records/servers.ts";
import { type TestAccount, unusedId } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { everyItem } from "../harness/table.ts";
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

test("a clone with restore_database false has a fresh database", async () => {
  const copy = (await clone({ restore_database: false })).as(Instance);
  await me.until(copy.operation_id);
  expect(await dataOf(copy.id)).toEqual({});
});

test("a clone without the files can be cloned itself, and its backups count the missing files", async () => {
  const copy = (await clone({ restore_filestore: false })).as(Instance);
  await me.until(copy.operation_id);
  const without = await me.backup(copy.id);
  expect(without).toMatchObject({ status: "completed", missing_files: 1 + Object.keys(DATA).length });
  const next = (await clone({ backup_id: without.id }, copy.id)).as(Instance);
  await me.until(next.operation_id);
  expect(await dataOf(next.id)).toEqual(DATA);
});

test("a clone with neutralize false keeps sending email", async () => {
  const copy = (await clone({ neutralize: false })).as(Instance);
  expect(copy.neutralized).toBe(false);
  const { result } = await me.until(copy.operation_id);
  expect(result?.verification).toMatchObject({ is_neutralized: false, new_database_uuid: true });
  expect(result?.verification?.active_crons).toBeGreaterThan(0);
});

test.each([
  { choices: {}, reset: true },
  { choices: { neutralize: false }, reset: false },
  { choices: { reset_users: false }, reset: false },
  { choices: { neutralize: false, reset_users: true }, reset: true },
])("a clone with $choices resets every user except the administrator: $reset", async ({ choices, reset }) => {
  const copy = (await clone(choices)).as(Instance);
  await me.until(copy.operation_id);
  const usersOf = async ({ id, server_id }: Pick<Instance, "id" | "server_id">) =>
    (await findErp((await getServer(me.id, server_id)).machine_id ?? "", id))?.database?.users;
  const [sourceUser] = (await usersOf(source)) ?? [];
  expect(sourceUser).toMatchObject({ password_hash: expect.stringMatching(/^\$pbkdf2/), api_keys: [expect.any(String)] });
  expect(await usersOf(copy)).toEqual([reset ? { ...sourceUser, password_hash: "", api_keys: [] } : sourceUser]);
});

test("a clone can be created on another server, with a given database name", async () => {
  const server = await me.server();
  const copy = (await clone({ server_id: server.id, database_name: "elsewhere" })).as(Instance);
  expect(copy).toMatchObject({ server_id: server.id, database_name: "elsewhere" });
  await me.until(copy.operation_id);
  expect(await dataOf(copy.id)).toEqual(DATA);
});

test("two clones with one name get different database names", async () => {
  const [one, other] = [(await clone()).as(Instance), (await clone()).as(Instance)];
  expect(one.database_name).not.toBe(other.database_name);
  await Promise.all([one, other].map(({ operation_id }) => me.until(operation_id)));
});

test.each(["Ünïcödé Shop 2", "123", "💥", "_", "a".repeat(64)])("the name %s makes a valid database name", async (name) => {
  const { database_name } = (await clone({ name })).as(Instance);
  expect(database_name).toMatch(/^[a-z][a-z0-9_]{0,62}$/);
});

test("a backup of a deleted instance can be cloned if the request names a server", async () => {
  const instance = await me.instance();
  await me.api.put(`/sandbox/instances/${instance.id}/data`, DATA);
  const remainingBackup = await me.backup(instance.id);
  await me.until((await api.delete(`/instances/${instance.id}`)).as(Operation).id);
  const without = await clone({ backup_id: remainingBackup.id }, instance.id);
  expect(without.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "server_id" } });
  const copy = (
    await clone({ backup_id: remainingBackup.id, server_id: instance.server_id, domain: instance.domain }, instance.id)
  ).as(Instance);
  expect(copy.admin_email).toBe(instance.admin_email);
  await me.until(copy.operation_id);
  expect(await dataOf(copy.id)).toEqual(DATA);
  expect((await clone({ backup_id: remainingBackup.id, server_id: instance.server_id }, unusedId("instance"))).status).toBe(404);
});

test("a clone of a damaged archive fails and leaves nothing on the server", async () => {
  const damaged = await me.backup(source.id, { note: "corrupt" });
  const copy = (await clone({ backup_id: damaged.id })).as(Instance);
  const { error } = await me.until(copy.operation_id, "failed");
  expect(error?.code).toBe("BACKUP_CORRUPT");
  expect((await api.get(`/instances/${copy.id}`)).as(Instance)).toMatchObject({
    status: "failed",
    status_reason: error?.message,
  });
  expect((await everyItem()).filter((item) => item.includes("SANDBOX#ERP") && item.includes(copy.id))).toEqual([]);
  const after = (await api.get(`/backups/${damaged.id}`)).as(Backup);
  expect(after).toEqual({
    ...damaged,
    status: "failed",
    status_reason: error?.message,
    reason: { code: "backup_unusable", parameters: expect.any(Object) },
  });
});

test("a given admin password is not in the response, nor anywhere in plain text", async () => {
  const admin_password = "the password of my choice";
  const response = await clone({ admin_password });
  const copy = response.as(instances.clone().data);
  expect(copy).not.toHaveProperty("admin_password");
  expect(response.text).not.toContain(admin_password);
  const find = async () => (await everyItem()).filter((item) => item.includes(admin_password));
  expect(await find()).toEqual([]);
  await me.until(copy.operation_id);
  expect(await find()).toEqual([]);
});

test("every ID that the account does not have is named at once", async () => {
  const { error } = await clone({ backup_id: unusedId("backup"), server_id: unusedId("server") });
  expect(error?.details?.["errors"]).toMatchObject([{ field: "backup_id" }, { field: "server_id" }]);
});
