// POST /bulk?dry_run=true: what it names is what the dry runs of the single requests name, and nothing that may not be read.
import { beforeAll, expect, test } from "vitest";
import * as operations from "../../shared/api/operations.ts";
import { Operation } from "../../shared/api/operations.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import type { Permission } from "../../shared/api/permissions.ts";
import { Settings } from "../../shared/api/settings.ts";
import { withinResponse } from "../../shared/operations/bulk/bulk-forecast.ts";
import { recordReport } from "../../shared/records/host-reports.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { effect, sentence } from "../../shared/operations/forecasts/forecast.ts";
import type { InstanceRecord } from "../../shared/records/schemas/instance.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { seedBackup, seedInstance, seedServer, seedWaiting } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
  await setQuota(me.id, "server", 30);
});

const AT = new Date(Date.now() - 3_600_000).toISOString();
const POLICY = { schedule: "0 3 * * *", timezone: "UTC", keep: { last: 1 } };

const plan = async (api: Client, method: string, path: string, body?: object): Promise<DryRun> =>
  (await api.send(method, `${path}?dry_run=true`, body)).as(DryRun);
const planned = (api: Client, action: string, ids: readonly string[], parameters: object = {}): Promise<DryRun> =>
  plan(api, "POST", "/bulk", { action, select: { ids }, parameters });
const warningsOf = ({ warning_reasons }: DryRun) => warning_reasons.map(({ code, parameters }) => [code, parameters["names"]]);
const effectsOf = ({ effects }: DryRun) => effects.map(({ action, resource, code }) => [action, resource.id, code]);

/** An instance whose policy has a backup that waits for its turn. */
async function waitingInstance(
  fields: Partial<InstanceRecord> = {},
): Promise<{ id: string; waiting: string; record: InstanceRecord }> {
  const record = await seedInstance(me.id, { last_backup_at: AT, last_backup_begun_at: AT, ...fields });
  await me.api.put(`/instances/${record.id}/backup-policy`, POLICY);
  return { id: record.id, record, waiting: await seedWaiting(record) };
}

test("a deletion names what each single one names: policies, backups that wait, and where the server is not active", async () => {
  const { id: offline } = await seedServer(me.id, { state: "unreachable" });
  const { id, waiting } = await waitingInstance();
  const { id: late } = await seedInstance(me.id, { server_id: offline });
  const { effects } = await planned(me.api, "delete", [id, late]);
  const single = [await plan(me.api, "DELETE", `/instances/${id}`), await plan(me.api, "DELETE", `/instances/${late}`)];
  expect(effects).toEqual(single.flatMap((each) => each.effects));
  expect(effects.map(({ action, resource, code }) => [action, resource.id, code])).toEqual([
    ["delete", id, "erp_deleted"],
    ["delete", id, "policy_deleted"],
    ["delete", waiting, "waiting_backup_deleted"],
    ["delete", late, "erp_deleted_later"],
  ]);
});

test("a deletion with backups names each once, and why others stay", async () => {
  const { id, record, waiting } = await waitingInstance();
  const backup = await seedBackup(record);
  await seedBackup(record, { locked: true });
  const deletion = await planned(me.api, "delete", [id], { with_backups: true });
  expect(effectsOf(deletion)).toEqual([
    ["delete", id, "erp_deleted"],
    ["delete", id, "policy_deleted"],
    ["delete", waiting, "waiting_backup_deleted"],
    ["delete", backup.id, "backup_deleted"],
  ]);
  expect(deletion.warning_reasons).toMatchObject([{ code: "bulk_not_now", parameters: { why_code: "error_backup_locked" } }]);
});

test("a policy names what the single one names: the first backup, and what its rules remove", async () => {
  const backedUp = await seedInstance(me.id, { last_backup_at: AT, last_backup_begun_at: AT });
  for (const due_at of ["2026-11-18T03:00:00.000Z", "2026-11-19T03:00:00.000Z"])
    await seedBackup(backedUp, { kind: "scheduled", due_at, attempt: 1 });
  const fresh = await seedInstance(me.id);
  const policy = { ...POLICY, drill_every_days: 7 };
  const { effects } = await planned(me.api, "set_policy", [backedUp.id, fresh.id], policy);
  const single = [
    await plan(me.api, "PUT", `/instances/${backedUp.id}/backup-policy`, policy),
    await plan(me.api, "PUT", `/instances/${fresh.id}/backup-policy`, policy),
  ];
  expect(effects).toEqual(single.flatMap((each) => each.effects));
  const codes = effects.map(({ code }) => code);
  expect(codes.filter((code) => code === "backup_due")).toHaveLength(1);
  expect(codes.filter((code) => code === "backup_not_kept")).toHaveLength(2);
});

test("a policy that is turned off or deleted names the backup that waits, as the single request does, which removes it", async () => {
  const { id, waiting } = await waitingInstance();
  const off = { ...POLICY, enabled: false };
  const deletion = ["delete", waiting, "waiting_backup_deleted"];
  expect(effectsOf(await planned(me.api, "set_policy", [id], off))).toContainEqual(deletion);
  expect(effectsOf(await planned(me.api, "set_policy", [id], POLICY))).not.toContainEqual(deletion);
  expect(effectsOf(await planned(me.api, "delete_policy", [id]))).toEqual([["delete", id, "policy_deleted"], deletion]);
  expect(effectsOf(await plan(me.api, "PUT", `/instances/${id}/backup-policy`, off))).toContainEqual(deletion);
  expect((await me.api.put(`/instances/${id}/backup-policy`, off)).status).toBe(200);
  expect((await me.api.get(`/backups/${waiting}`)).status).toBe(404);
});

test("a policy names the instances whose other policy it replaces", async () => {
  const [first, second, fresh] = [
    await seedInstance(me.id, { name: "First" }),
    await seedInstance(me.id, { name: "Second" }),
    await seedInstance(me.id, { name: "Fresh" }),
  ];
  for (const { id } of [first, second]) await me.api.put(`/instances/${id}/backup-policy`, POLICY);
  const ids = [first.id, second.id, fresh.id];
  expect(warningsOf(await planned(me.api, "set_policy", ids, POLICY))).toEqual([]);
  const other = { ...POLICY, keep: { last: 2 } };
  expect(warningsOf(await planned(me.api, "set_policy", ids, other))).toEqual([["bulk_policy_replaced", "First, Second"]]);
});

test("what another operation holds is not left as it is, but waited for", async () => {
  const heldIds: string[] = [];
  for (const name of ["Held 1", "Held 2"])
    heldIds.push((await seedInstance(me.id, { name, operation_id: unusedId("operation") })).id);
  const stop = await planned(me.api, "stop", heldIds);
  expect(stop.warning_reasons).toEqual([{ code: "bulk_waits", parameters: { names: "Held 1, Held 2", minutes: 60 } }]);
  expect(effectsOf(stop)).toEqual(heldIds.map((id) => ["stop", id, "erp_stopped"]));
  const expected = { action: "start", status: "running", why_code: "error_action_not_allowed" };
  const start = await planned(me.api, "start", heldIds);
  expect([start.effects, start.warning_reasons]).toMatchObject([
    [],
    heldIds.map(() => ({ code: "bulk_not_now", parameters: expected })),
  ]);
  const [going, starting] = [
    await seedInstance(me.id, { state: "deleting", operation_id: unusedId("operation") }),
    await seedInstance(me.id, { state: "starting", operation_id: unusedId("operation") }),
  ];
  expect(effectsOf(await planned(me.api, "stop", [going.id, starting.id]))).toEqual([["stop", starting.id, "erp_stopped"]]);
});

test("a deletion of what is held names it with its backups, and that none is left", async () => {
  const hold = { operation_id: unusedId("operation") };
  const instance = await seedInstance(me.id, { name: "Held", ...hold });
  const [read, running] = [
    await seedBackup(instance, { used_by: new Set([hold.operation_id]) }),
    await seedBackup(instance, { state: "running", ...hold }),
  ];
  const deletion = await planned(me.api, "delete", [instance.id], { with_backups: true });
  expect(effectsOf(deletion)[0]).toEqual(["delete", instance.id, "erp_deleted"]);
  const deleted = [read, running].map(({ id }) => ["delete", id, "backup_deleted"]);
  expect(new Set(effectsOf(deletion).slice(1))).toEqual(new Set(deleted));
  expect(warningsOf(deletion)).toEqual([
    ["bulk_waits", expect.stringMatching(/^Held, /)],
    ["bulk_no_backup_left", "Held"],
  ]);
});

test("work that waits for a server that is held names what it will change, and holds nothing against the instance", async () => {
  const server = await seedServer(me.id, { operation_id: unusedId("operation") });
  const instance = await seedInstance(me.id, { name: "On it", server_id: server.id });
  const backup = await seedBackup(instance);
  const wait = ["bulk_waits_for_server", expect.any(String)];
  for (const [action, id] of [
    ["restart", instance.id],
    ["delete", instance.id],
    ["drill", backup.id],
  ] as const) {
    const forecast = await planned(me.api, action, [id]);
    expect(effectsOf(forecast)[0]?.[1], action).toBe(id);
    expect(warningsOf(forecast), action).toEqual([wait]);
  }
  const reboot = await planned(me.api, "reboot", [server.id]);
  expect([effectsOf(reboot)[0]?.[1], warningsOf(reboot)[0]]).toEqual([server.id, ["bulk_waits", server.name]]);
});

test("nothing is said that the credential may not read", async () => {
  const { id, record, waiting } = await waitingInstance();
  const secrets = [waiting, (await seedBackup(record, { note: "Before the audit", locked: true })).id, "Before the audit"];
  await seedBackup(record, { kind: "scheduled", due_at: "2026-11-18T03:00:00.000Z", attempt: 1 });
  const blind = (await me.token(["instances:write", "backups:write", "instances:actions"])).api;
  const deletion = await planned(blind, "delete", [id]);
  expect(effectsOf(deletion)).toEqual([["delete", id, "erp_deleted"]]);
  const withBackups = await planned(blind, "delete", [id], { with_backups: true });
  expect(effectsOf(withBackups)).toEqual([
    ["delete", id, "erp_deleted"],
    ["delete", null, "its_backups_deleted"],
  ]);
  const policy = await planned(blind, "set_policy", [id], { ...POLICY, enabled: false });
  expect(effectsOf(policy)).toEqual([["update", id, "backups_paused"]]);
  const rules = await planned(blind, "set_policy", [id], POLICY);
  expect(effectsOf(rules)).toContainEqual(["delete", null, "some_backup_not_kept"]);
  for (const each of [deletion, withBackups, policy, rules]) {
    expect(warningsOf(each)).toEqual([deletion, withBackups].includes(each) ? [["unsaved_not_recoverable", undefined]] : []);
    for (const secret of secrets) expect(JSON.stringify(each)).not.toContain(secret);
  }
  const { id: offline } = await seedServer(me.id, { state: "unreachable" });
  const cutOff = await seedInstance(me.id, { server_id: offline });
  const reader = (await me.token(["instances:read", "instances:actions"])).api;
  const unknown = await planned(reader, "restart", [cutOff.id]);
  expect(unknown.warnings).toEqual([expect.stringContaining("The server must be active")]);
  expect(JSON.stringify(unknown)).not.toMatch(new RegExp(`${offline}|offline|unreachable`));
  const heldInstance = await seedInstance(me.id, { name: "Held shop", operation_id: unusedId("operation") });
  const stop = await planned(blind, "stop", [heldInstance.id]);
  expect([effectsOf(stop), stop.warnings, stop.downtime_seconds]).toEqual([[["stop", heldInstance.id, "erp_stopped"]], [], null]);
});

test("a resource that is left as it is has the code of the reason", async () => {
  const { id } = await seedInstance(me.id, { state: "stopped" });
  expect((await planned(me.api, "stop", [id])).warning_reasons).toMatchObject([
    { code: "bulk_not_now", parameters: { why_code: "error_action_not_allowed", action: "stop", status: "stopped" } },
  ]);
});

test("a deletion names the instances of which no completed backup is left, as each single one says it of its own", async () => {
  const [bare, saved, other] = [
    await seedInstance(me.id, { name: "Bare" }),
    await seedInstance(me.id, { name: "Saved" }),
    await seedInstance(me.id, { name: "Other" }),
  ];
  const last = await seedBackup(saved);
  await seedBackup(saved, { state: "failed" });
  for (const locked of [false, true]) await seedBackup(other, { locked });
  const ids = [bare.id, saved.id, other.id];
  expect(warningsOf(await planned(me.api, "delete", ids))).toEqual([["bulk_no_backup_left", "Bare"]]);
  expect(warningsOf(await planned(me.api, "delete", ids, { with_backups: true }))).toEqual([
    ["bulk_no_backup_left", "Bare, Saved"],
    ["bulk_not_now", undefined],
  ]);
  expect(warningsOf(await planned(me.api, "delete", [last.id]))).toEqual([["bulk_no_backup_left", "Saved"]]);
  const tried = await seedInstance(me.id, { name: "Tried" });
  await seedBackup(tried, { operation_id: unusedId("operation") });
  expect(warningsOf(await planned(me.api, "delete", [tried.id], { with_backups: true }))).toEqual([
    ["bulk_waits", expect.any(String)],
    ["bulk_no_backup_left", "Tried"],
  ]);
  const newer = await seedBackup(saved);
  expect(warningsOf(await planned(me.api, "delete", [last.id]))).toEqual([]);
  expect(warningsOf(await planned(me.api, "delete", [last.id, newer.id]))).toEqual([["bulk_no_backup_left", "Saved"]]);
  const blind = (await me.token(["instances:write", "backups:write"])).api;
  expect(warningsOf(await planned(blind, "delete", ids))).toEqual([["unsaved_not_recoverable", undefined]]);
});

test("a policy and work that fills a disk warn once for all, by name", async () => {
  const server = await seedServer(me.id, { name: "Small", specs: { cpu: 2, memory_gb: 4, disk_gb: 40 } });
  await recordReport(server, { disk_free_bytes: 15e9, memory_free_bytes: 1, certificates: undefined });
  const instances = [
    await seedInstance(me.id, { server_id: server.id }),
    await seedInstance(me.id, { server_id: server.id }),
    await seedInstance(me.id, { server_id: server.id }),
  ];
  const backups = [];
  for (const instance of instances) backups.push(await seedBackup(instance, { size_bytes: 9.5e9 }));
  const never = await seedInstance(me.id, { name: "Never", state: "failed", installed: false });
  const rare = { ...POLICY, schedule: "0 3 1 * 1" };
  expect(warningsOf(await planned(me.api, "set_policy", [...instances.map(({ id }) => id), never.id], rare))).toEqual([
    ["days_match_either", undefined],
    ["bulk_never_installed", "Never"],
  ]);
  // Two of one server at a time, and one drill.
  const both = ["disk_low_afterwards", expect.objectContaining({ server_name: "Small", needed_bytes: 19e9 })];
  const roomOf = ({ warning_reasons }: DryRun) => warning_reasons.map(({ code, parameters }) => [code, parameters]);
  expect(
    roomOf(
      await planned(
        me.api,
        "backup",
        instances.map(({ id }) => id),
      ),
    ),
  ).toEqual([both]);
  expect(
    roomOf(
      await planned(
        me.api,
        "drill",
        backups.map(({ id }) => id),
      ),
    ),
  ).toEqual([["disk_low_afterwards", expect.objectContaining({ needed_bytes: 9.5e9 })]]);
});

test("backups that the account's quotas have no room for are counted, and fail", async () => {
  const one = await account({ seeded: true });
  const instances = [await seedInstance(one.id), await seedInstance(one.id)];
  const select = { ids: instances.map(({ id }) => id) };
  const quotas = async () => (await plan(one.api, "POST", "/bulk", { action: "backup", select })).warning_reasons;
  const used = (await one.api.get("/settings")).as(Settings).quotas.backups.used;
  expect(await quotas()).toEqual([]);
  await setQuota(one.id, "backup", used + 1);
  expect(await quotas()).toMatchObject([{ code: "bulk_quotas", parameters: { room_count: 1, backup_count: 2 } }]);
  const writes = ["instances:read", "backups:write"] as const;
  const withPermissions = async (...permissions: readonly Permission[]) => {
    const { api } = await one.token([...writes, ...permissions]);
    return (await plan(api, "POST", "/bulk", { action: "backup", select })).warning_reasons.map(({ code }) => code);
  };
  expect(await withPermissions(), "how many backups there are is not to be known").toEqual(["bulk_quotas_short"]);
  expect(await withPermissions("backups:read")).toEqual(["bulk_quotas"]);
  expect(await withPermissions("settings:read")).toEqual(["bulk_quotas"]);
  const { id: heldId } = await seedInstance(one.id, { operation_id: unusedId("operation") });
  const withHeld = await plan(one.api, "POST", "/bulk", { action: "backup", select: { ids: [...select.ids, heldId] } });
  expect(withHeld.warning_reasons).toContainEqual({ code: "bulk_quotas", parameters: { room_count: 1, backup_count: 3 } });
  await setQuota(one.id, "backup", 100);
  await setQuota(one.id, "backup_bytes", 0);
  expect(await quotas()).toMatchObject([{ code: "bulk_quotas", parameters: { room_count: 0, backup_count: 2 } }]);
  const { id } = (await one.api.post("/bulk", { action: "backup", select })).as(Operation);
  await one.until(id);
  const items = (await one.api.get(`/operations/${id}/items`)).as(operations.items().data);
  expect(items.map(({ error }) => error?.code)).toEqual(["QUOTA_EXCEEDED", "QUOTA_EXCEEDED"]);
});

test("what an item will refuse, its dry run says with the same reason, or names the server to whom may read it", async () => {
  const { id: offline } = await seedServer(me.id, { state: "unreachable" });
  const going = await seedInstance(me.id, { state: "deleting" });
  const full = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`label${index}`, "x"]));
  const labeled = await seedInstance(me.id, { labels: full });
  const there = await seedInstance(me.id, { server_id: offline });
  const [deleting, far, uploaded] = [
    await seedBackup(labeled, { state: "deleting" }),
    await seedBackup(there),
    await seedBackup(labeled, { instance_id: null }),
  ];
  const more = { add: { one: "more" } };
  for (const [action, id, parameters, code] of [
    ["set_policy", going.id, POLICY, "error_being_deleted"],
    ["set_labels", going.id, more, "error_being_deleted"],
    ["set_labels", labeled.id, more, "field_labels_most"],
    ["lock", deleting.id, {}, "error_backup_not_editable"],
    ["unlock", deleting.id, {}, "error_backup_not_editable"],
    ["set_labels", deleting.id, more, "error_backup_not_editable"],
    ["drill", far.id, {}, "error_server_not_active"],
    ["drill", uploaded.id, {}, "field_server_required"],
  ] as const) {
    const { effects, warning_reasons } = await planned(me.api, action, [id], parameters);
    expect(effects, action).toEqual([]);
    expect(warning_reasons, action).toMatchObject([{ code: "bulk_not_now" }]);
    expect(warning_reasons[0]?.parameters["why_code"], action).toBe(code);
    const { id: bulk } = (await me.api.post("/bulk", { action, select: { ids: [id] }, parameters })).as(Operation);
    await me.until(bulk);
    const [item] = (await me.api.get(`/operations/${bulk}/items`)).as(operations.items().data);
    const reason = code === "error_server_not_active" ? "The server must be active" : warning_reasons[0]?.parameters["why"];
    expect(item?.error?.message, action).toBe(reason);
  }
});

test("more effects than a response has room for: deleted backups are counted by instance", () => {
  const erp = effect("delete", { type: "instance", id: "inst_1" }, "erp_deleted");
  const deleted = Array.from({ length: 5_000 }, (_, i) => effect("delete", { type: "backup", id: `bak_${i}` }, "backup_deleted"));
  const fitting = { effects: [erp, ...deleted.slice(1)], warnings: [] };
  expect(withinResponse([fitting, fitting])).toEqual([fitting, fitting]);
  const larger = { effects: [erp, ...deleted], warnings: [sentence("last_backup")] };
  const counted = effect("delete", { type: "backup", id: null }, "backups_deleted", { backup_count: 5_000 });
  expect(withinResponse([larger, larger])).toEqual(
    Array.from({ length: 2 }, () => ({ effects: [erp, counted], warnings: larger.warnings })),
  );
});
