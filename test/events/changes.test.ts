// What events say about changes, and what errors say to whom.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { changesBetween } from "../../shared/records/audit-changes.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { type Client } from "../harness/client.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const Events = z.array(z.looseObject({ type: z.string(), data: z.unknown() }));
const changes = async (resourceId: string, api: Client = me.api) =>
  (await api.get(`/events?resource_id=${resourceId}&order=asc`)).as(Events).map(({ data }) => data);

describe("an event of a change says what changed", () => {
  test("of a server, an instance, its domain, a backup, a policy, the settings and a quota", async () => {
    const server = await seedServer(me.id, { name: "old-name" });
    await me.api.put(`/servers/${server.id}`, { name: "new-name", labels: {} });
    expect(await changes(server.id)).toEqual([{ changes: [{ field: "name", before: "old-name", after: "new-name" }] }]);

    const instance = await seedInstance(me.id, { server_id: server.id, name: "Shop", labels: { env: "a" } });
    const domain = uniqueDomain();
    await me.api.put(`/instances/${instance.id}`, { name: "Shop", labels: { env: "b" } });
    await me.api.put(`/instances/${instance.id}/backup-policy`, { schedule: "0 2 * * *", keep: { last: 7 } });
    const labels = { field: "labels", before: { env: "a" }, after: { env: "b" } };
    const [first, second] = await changes(instance.id);
    expect(first).toEqual({ changes: [labels] });
    expect(second).toMatchObject({
      changes: expect.arrayContaining([{ field: "schedule", before: null, after: "0 2 * * *" }]),
    });
    const other = await seedInstance(me.id, { server_id: server.id });
    await me.api.put(`/instances/${other.id}`, { domain, admin_email: "new@example.com" });
    // The operation may have ended by now, which its event then says, too.
    expect(await changes(other.id)).toMatchObject([
      {
        changes: [
          { field: "admin_email", before: other.admin_email, after: "new@example.com" },
          { field: "domain", before: other.domain, after: domain },
        ],
      },
    ]);

    const backup = await seedBackup(instance);
    await me.api.put(`/backups/${backup.id}`, { note: "keep", locked: true });
    expect(await changes(backup.id)).toEqual([
      {
        changes: [
          { field: "note", before: backup.note, after: "keep" },
          { field: "locked", before: false, after: true },
        ],
      },
    ]);
    await me.api.put("/settings", { backup_retention_days: 9 });
    await setQuota(me.id, "server", 77);
    expect((await changes(me.id)).slice(-2)).toEqual([
      { changes: [{ field: "backup_retention_days", before: 14, after: 9 }] },
      { changes: [{ field: "limit_server", before: 10, after: 77 }] },
    ]);
    // Who may read the log but not the resource learns only that it changed.
    const { api } = await me.token(["settings:read", "servers:read"]);
    expect(await changes(backup.id, api)).toEqual([null]);
    expect(await changes(server.id, api)).toHaveLength(1);
    expect((await changes(server.id, api))[0]).not.toBeNull();
  });

  test("of secrets, and beyond 4 KB, only the names", () => {
    const [before, after] = [
      { admin_password: "a", note: "x", labels: { a: "b" }, same: 1 },
      { admin_password: "b", same: 1 },
    ];
    expect(changesBetween(before, { ...after, note: "y".repeat(5_000) }, ["admin_password", "note", "labels", "same"])).toEqual([
      { field: "admin_password" },
      { field: "note" },
      { field: "labels", before: { a: "b" }, after: null },
    ]);
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`field_${i}`, "v".repeat(100)]));
    const cut = changesBetween({}, many, Object.keys(many));
    expect(cut).toHaveLength(100);
    expect(Buffer.byteLength(JSON.stringify(cut))).toBeLessThan(4_600);
  });
});

describe("nothing that the credential may not read", () => {
  test("is in an error", async () => {
    const server = await seedServer(me.id, { state: "unreachable" });
    const instance = await seedInstance(me.id, { server_id: server.id });
    const { api: blind } = await me.token(["instances:write", "backups:write", "instances:actions"]);
    for (const [api, resource] of [
      [me.api, server.id],
      [blind, undefined],
    ] as const) {
      const { error } = await api.post(`/instances/${instance.id}/backups`, {});
      expect([error?.code, error?.details?.["resource"]]).toEqual(["INVALID_STATE", resource]);
      expect(error?.message.includes(server.id)).toBe(resource !== undefined);
    }
    const takenDomain = { domain: (await seedInstance(me.id)).domain };
    const ownInstance = await seedInstance(me.id);
    expect((await blind.put(`/instances/${ownInstance.id}`, takenDomain)).error?.details).toEqual({ field: "domain" });
    for (let i = 0; i < 3; i++) await me.api.post("/backups/uploads", { size_bytes: 1_000, note: "theirs" });
    expect((await blind.post("/backups/uploads", { size_bytes: 1_000 })).error?.details).toEqual({
      resource: "upload",
      limit: 3,
    });
    expect((await me.api.post("/backups/uploads", { size_bytes: 1_000 })).error?.details?.["uploads"]).toHaveLength(3);
  });
});
