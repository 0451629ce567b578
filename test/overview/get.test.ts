// GET /overview: exact counts of what the credential may read, and an empty 304 as long as nothing changes.
import { expect, test } from "vitest";
import * as z from "zod";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import * as overview from "../../shared/api/overview.ts";
import { BACKUP_STATUSES, INSTANCE_STATUSES, PROTECTION_STATUSES, SERVER_STATUSES } from "../../shared/domain/lifecycle.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";

/** The same by counting what the lists show. */
async function recount({ token }: TestAccount) {
  const { api } = await token();
  const total = async (query: string): Promise<number> => (await api.get(`${query}&per_page=1`)).meta?.total ?? -1;
  const counts = async (path: string, filter: string, values: readonly string[]) =>
    Object.fromEntries(
      await Promise.all(values.map(async (value) => [value, await total(`${path}?${filter}=${value}`)] as const)),
    );
  return {
    servers: {
      total: await total("/servers?order=desc"),
      status: await counts("/servers", "status", SERVER_STATUSES),
      needs_reboot: await total("/servers?needs_reboot=true"),
    },
    instances: {
      total: await total("/instances?order=desc"),
      status: await counts("/instances", "status", INSTANCE_STATUSES),
      protection: await counts("/instances", "protection", PROTECTION_STATUSES),
      update_available: await total("/instances?update_available=true"),
    },
    backups: { total: await total("/backups?order=desc"), status: await counts("/backups", "status", BACKUP_STATUSES) },
    operations: await counts("/operations", "status", ["pending", "running"]),
  };
}

test("the counts are exact, also after many changes at once", async () => {
  const me = await account({ seeded: true });
  const showOverview = async () => (await me.api.get("/overview")).as(overview.get().data);
  expect(await showOverview()).toMatchObject(await recount(me));
  const instances = [await me.instance(), await me.instance(), await me.instance()];
  const { api } = await me.token();
  const responses = await Promise.all([
    ...instances.map(async ({ id }, i) => api.post(`/instances/${id}/actions`, { action: ["stop", "backup", "restart"][i] })),
    ...Array.from({ length: 4 }, async () => api.post("/servers", await me.serverBody())),
    ...instances.map(async ({ id }) => api.put(`/instances/${id}/backup-policy`, { schedule: "0 2 * * *", keep: { daily: 1 } })),
  ]);
  expect(responses.map(({ status }) => Math.floor(status / 100))).toEqual(responses.map(() => 2));
  for (const { id } of (await api.get("/operations")).as(z.array(z.looseObject({ id: z.string() })))) await me.until(id);
  const settled = await showOverview();
  expect(settled).toMatchObject(await recount(me));
  expect(settled.operations).toEqual({ pending: 0, running: 0 });
});

test("the revision rises with a change, and without one the response is an empty 304", async () => {
  const me = await account();
  const { id } = await seedServer(me.id);
  const first = await me.api.get("/overview");
  const etag = first.headers["etag"] ?? "";
  const again = await me.api.get("/overview", { headers: { "if-none-match": etag } });
  expect([again.status, again.text, again.headers["etag"]]).toEqual([304, "", etag]);
  await me.api.put(`/servers/${id}`, { labels: { env: "test" } });
  const changed = await me.api.get("/overview", { headers: { "if-none-match": etag } });
  expect(changed.status).toBe(200);
  expect(changed.as(overview.get().data).revision).toBeGreaterThan(first.as(overview.get().data).revision);
});

test("each credential sees what it may read", async () => {
  const me = await account();
  await seedBackup(await seedInstance(me.id));
  const of = async (permissions: Parameters<TestAccount["token"]>[0]) => {
    const { data } = overview.get();
    const { revisions, role, permissions: may, ...counts } = (await (await me.token(permissions)).api.get("/overview")).as(data);
    expect({ role, may }).toEqual({ role: null, may: permissions });
    return [Object.keys(counts), Object.keys(revisions)];
  };
  const always = ["users", "invitations", "sessions", "others"];
  expect(await of(["servers:read"])).toEqual([
    ["servers", "revision"],
    ["servers", "ssh_keys", ...always],
  ]);
  expect(await of(["instances:read", "settings:read"])).toEqual([
    ["instances", "alerts", "revision"],
    ["instances", ...always],
  ]);
  expect(await of(["servers:read", "instances:read", "backups:read"])).toEqual([
    ["servers", "instances", "backups", "operations", "revision"],
    ["servers", "ssh_keys", "instances", "backups", "policies", "operations", ...always],
  ]);
  expect(await of(["settings:write"])).toEqual([["revision"], always]);
});

test("a session sees its role and what it permits, also after a change, although it sends the ETag from before", async () => {
  const me = await account();
  const user = await me.anotherUser({ role: "admin" });
  const session = await me.session(user);
  const first = await session.get("/overview");
  expect(first.as(overview.get().data)).toMatchObject({ role: "admin", permissions: ALL_PERMISSIONS });
  const changed = { role: "custom", permissions: ["servers:read"] };
  expect((await (await me.session()).put(`/users/${user.id}`, changed)).status).toBe(200);
  const again = await session.get("/overview", { headers: { "if-none-match": first.headers["etag"] ?? "" } });
  expect(again.as(overview.get().data)).toMatchObject(changed);
});

test("the revisions say what was changed", async () => {
  const me = await account();
  const instance = await seedInstance(me.id);
  await seedBackup(instance);
  const revisions = async () => (await me.api.get("/overview")).as(overview.get().data).revisions;
  const changedBy = async (change: () => Promise<{ status: number }>): Promise<string[]> => {
    const before = new Map(Object.entries(await revisions()));
    expect(Math.floor((await change()).status / 100)).toBe(2);
    return Object.entries(await revisions()).flatMap(([kind, revision]) => (revision === before.get(kind) ? [] : [kind]));
  };
  const labels = { env: "test" };
  expect(await changedBy(() => me.api.put(`/servers/${instance.server_id}`, { labels }))).toEqual(["servers"]);
  expect(await changedBy(() => me.api.put(`/instances/${instance.id}`, { labels }))).toEqual(["instances"]);
  expect(await changedBy(() => me.api.put("/settings", { account_name: "Bakery" }))).toEqual(["others"]);
  const session = await me.session();
  const invited = { email: "ann@example.com", role: "viewer" };
  expect(await changedBy(() => session.post("/users/invitations", invited))).toEqual(["invitations"]);
  expect(await changedBy(() => session.put(`/users/${me.user.id}`, { name: "Ann" }))).toEqual(["users", "sessions"]);
  await me.session();
  expect(await changedBy(() => session.delete("/auth/sessions"))).toEqual(["sessions"]);
  const policy = { schedule: "0 2 * * *", keep: { daily: 1 } };
  expect(await changedBy(() => me.api.put(`/instances/${instance.id}/backup-policy`, policy))).toContain("policies");
});
