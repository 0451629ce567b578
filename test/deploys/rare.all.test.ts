// Deploys of code that cannot be had or built, of stopped instances and other accounts, and rollbacks that are not possible.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { Deploy } from "../../shared/api/deploys.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import { Operation } from "../../shared/api/operations.ts";
import { startChange } from "../../shared/data/change.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { beginDeploy } from "../../shared/operations/code/begin-code-work.ts";
import { changeErp } from "../../shared/providers/sandbox/machines.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { findCode } from "../../shared/records/code.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { getServer } from "../../shared/records/servers.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unique, unusedId } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { seedInstance } from "../harness/seed.ts";
import { deploysOf } from "./deployed.ts";

let me: TestAccount;
let api: Client;
beforeAll(async () => {
  me = await account({ seeded: true });
  await setQuota(me.id, "server", 100);
});
beforeEach(async () => {
  ({ api } = await me.token());
});

const { dataOf, show, readDeploy, put, prepared, deployed, expectPutBack } = deploysOf(() => ({ me, api }));

describe("a deploy that fails leaves code and data as they were", () => {
  test.each([
    ["fail-rehearsal", { code: "REHEARSAL_FAILED", failed_step: "rehearse", downtime_seconds: null }],
    ["moved", { code: "CODE_UNREACHABLE", failed_step: "fetchCode", downtime_seconds: null }],
    ["broken-manifest", { code: "CODE_INVALID", failed_step: "fetchCode", downtime_seconds: null }],
    // Python packages are of no repository.
    ["fail-build", { code: "BUILD_FAILED", failed_step: "installPackages", downtime_seconds: null, culprit: "nowhere" }],
  ] as const)("at the ref %s", (ref, expected) => expectPutBack(ref, expected));

  test("with the end of the log, and in the rehearsal without having stopped the ERP", async () => {
    const { id } = await prepared("fail-rehearsal");
    const { operation_id, id: deployId } = (await api.post(`/instances/${id}/deploys`, {})).as(Deploy);
    await me.until(operation_id, "failed");
    const deploy = await readDeploy(deployId);
    expect(deploy).toMatchObject({ rehearsal: { status: "failed" }, downtime_seconds: null, backup_id: null });
    expect(deploy.log_excerpt).toMatch(/^Traceback/);
  });

  test("with what a rehearsal is for, also where no module has changed", async () => {
    const { id, name } = await prepared("fail-rehearsal");
    await put(name, { acme: "1.0", other: "1.0" });
    const { operation_id } = (await api.post(`/instances/${id}/deploys`, {})).as(Deploy);
    expect((await me.until(operation_id, "failed")).error).toMatchObject({ code: "REHEARSAL_FAILED" });
  });
});

test("modules that are named and not installed fail the deploy before anything stops, and are named", async () => {
  const { id } = await prepared();
  const { operation_id } = (await api.post(`/instances/${id}/deploys`, { modules: ["acme", "nowhere", "other"] })).as(Deploy);
  expect((await me.until(operation_id, "failed")).error).toMatchObject({
    code: "CODE_INVALID",
    message: expect.stringContaining("cannot be updated: nowhere, other."),
  });
  expect(await dataOf(id)).toMatchObject({ modules: { acme: "1.0" } });
});

test("code without a module that is installed fails the deploy before the ERP stops, and names it", async () => {
  const { id, name } = await prepared();
  await put(name, { other: "1.1" });
  const { operation_id, id: deployId } = (await api.post(`/instances/${id}/deploys`, { rehearse: false })).as(Deploy);
  expect((await me.until(operation_id, "failed")).error).toMatchObject({
    code: "CODE_INVALID",
    message: expect.stringContaining("uninstall it in the ERP first"),
    reason: { code: "deploy_modules_missing", parameters: { modules: "acme" } },
  });
  expect(await readDeploy(deployId)).toMatchObject({ failed_step: "fetchCode", downtime_seconds: null });
  // Nor does code without any repository go on.
  await api.put(`/instances/${id}/code`, { repositories: [], install_modules: [] });
  const emptied = (await api.post(`/instances/${id}/deploys`, { rehearse: false })).as(Deploy);
  expect((await me.until(emptied.operation_id, "failed")).error).toMatchObject({ code: "CODE_INVALID" });
});

test("modules of the image are installed once, and those that neither it nor the code has fail the deploy", async () => {
  const { id } = await prepared();
  await api.put(`/instances/${id}/code`, { install_modules: ["acme", "crm"] });
  const choices = { rehearse: false, backup_first: false };
  expect((await deployed(id, choices)).modules).toMatchObject({ updated: ["acme"], installed: ["crm"] });
  expect((await deployed(id, choices)).modules).toMatchObject({ updated: [], installed: [] });
  await api.put(`/instances/${id}/code`, { install_modules: ["acme", "nowhere"] });
  for (const [rehearse, code] of [
    [true, "REHEARSAL_FAILED"],
    [false, "UPDATE_FAILED"],
  ] as const) {
    const { operation_id } = (await api.post(`/instances/${id}/deploys`, { ...choices, rehearse })).as(Deploy);
    expect((await me.until(operation_id, "failed")).error).toMatchObject({
      code,
      message: expect.stringContaining("Modules: nowhere"),
    });
  }
});

test("a stopped instance is stopped again afterwards, and has the new modules", async () => {
  const { id } = await prepared();
  await me.until((await api.post(`/instances/${id}/actions`, { action: "stop" })).as(z.looseObject({ id: z.string() })).id);
  expect(await deployed(id, { backup_first: false })).toMatchObject({ status: "completed", downtime_seconds: null });
  expect(await show(id)).toMatchObject({ status: "stopped" });
  expect(await dataOf(id)).toMatchObject({ modules: { acme: "1.1" } });
});

describe("a rollback", () => {
  const rollBack = (id: string, to: Deploy, more: object = {}) =>
    api.post(`/instances/${id}/deploys`, { rollback_to: to.id, ...more });

  test("needs a completed deploy of the instance, a backup for the data, and the permission to restore", async () => {
    const { id, first } = await prepared();
    expect((await rollBack(id, { ...first, id: unusedId("deploy") })).error).toMatchObject({ details: { field: "rollback_to" } });
    const other = await prepared();
    expect((await rollBack(id, other.first)).error).toMatchObject({ details: { field: "rollback_to" } });
    expect((await rollBack(id, first, { restore_database: true })).error).toMatchObject({ code: "INVALID_STATE" });
    const alone = await api.post(`/instances/${id}/deploys`, { restore_database: true });
    expect(alone.error).toMatchObject({ details: { field: "restore_database" } });
    const { api: weaker } = await me.token(["instances:write"]);
    const denied = await weaker.post(`/instances/${id}/deploys`, { rollback_to: first.id, restore_database: true });
    expect(denied.error).toMatchObject({ code: "FORBIDDEN", message: "Token does not have permission: backups:restore" });
  });

  test("brings the older commits again, unless the database has a module in a higher version", async () => {
    const { id, name, first } = await prepared();
    const second = await deployed(id, { backup_first: false });
    const refused = await rollBack(id, first);
    expect(refused.error).toMatchObject({ code: "INVALID_STATE", details: { modules: ["acme"] } });
    await put(name, { acme: "1.1", other: "2.0" });
    await deployed(id, { backup_first: false });
    const rollback = (await rollBack(id, second)).as(Deploy);
    await me.until(rollback.operation_id);
    expect(await readDeploy(rollback.id)).toMatchObject({
      status: "completed",
      trigger: "rollback",
      commits: [{ commit: second.commits[0]?.commit }],
    });
  });

  test("is not rejected for a module that a deploy of named ones left as it was in the database", async () => {
    const { id, name } = await prepared();
    await put(name, { acme: "1.0", other: "1.0" });
    await api.put(`/instances/${id}/code`, { install_modules: ["acme", "other"] });
    const first = await deployed(id, { rehearse: false, backup_first: false });
    await put(name, { acme: "1.0", other: "1.1" });
    await deployed(id, { modules: ["acme"], rehearse: false, backup_first: false });
    const rollback = (await rollBack(id, first, { rehearse: false, backup_first: false })).as(Deploy);
    await me.until(rollback.operation_id);
    expect((await readDeploy(rollback.id)).status).toBe("completed");
  });

  test("is not rejected for what a restore has replaced since", async () => {
    const { id, first } = await prepared();
    const backup = (await api.post(`/instances/${id}/backups`, {})).as(Backup);
    await me.until(backup.operation_id);
    await deployed(id, { rehearse: false, backup_first: false });
    expect((await rollBack(id, first)).error).toMatchObject({ message: expect.stringMatching(/^As of the last deploy, /) });
    await me.until((await api.post(`/backups/${backup.id}/restore`, { backup_first: false })).as(Operation).id);
    const rollback = (await rollBack(id, first, { rehearse: false, backup_first: false })).as(Deploy);
    await me.until(rollback.operation_id);
    expect(await dataOf(id)).toEqual({ orders: 1, modules: { acme: "1.0" } });
  });

  test("goes back to before a module of any name", async () => {
    const { id, name, first } = await prepared();
    await put(name, { acme: "1.0", constructor: "1.0" });
    await api.put(`/instances/${id}/code`, { install_modules: ["acme", "constructor"] });
    expect((await deployed(id, { rehearse: false, backup_first: false })).modules?.installed).toEqual(["constructor"]);
    const planned = await api.post(`/instances/${id}/deploys?dry_run=true`, { rollback_to: first.id });
    expect(planned.as(DryRun).warning_reasons).toContainEqual({
      code: "deploy_modules_may_be_missing",
      parameters: { modules: "constructor" },
    });
  });

  test("needs the permission to read backups for when the data that comes back is from", async () => {
    const { id, first } = await prepared();
    await deployed(id);
    const { api: weaker } = await me.token(["instances:read", "instances:write", "backups:restore"]);
    const body = { rollback_to: first.id, restore_database: true };
    const planned = (await weaker.post(`/instances/${id}/deploys?dry_run=true`, body)).as(DryRun);
    expect(planned.warning_reasons).toContainEqual({ code: "deploy_data_lost_since_backup", parameters: {} });
    expect(planned.warning_reasons.map(({ code }) => code)).not.toContain("deploy_data_lost");
  });

  test("to code without a module that was installed since fails before the ERP stops, and its dry run says so", async () => {
    const { id, name, first } = await prepared();
    await put(name, { acme: "1.0", fresh: "1.0" });
    await api.put(`/instances/${id}/code`, { install_modules: ["acme", "fresh"] });
    await deployed(id, { rehearse: false, backup_first: false });
    const planned = (await api.post(`/instances/${id}/deploys?dry_run=true`, { rollback_to: first.id })).as(DryRun);
    expect(planned.warning_reasons).toContainEqual({ code: "deploy_modules_may_be_missing", parameters: { modules: "fresh" } });
    const rollback = (await rollBack(id, first, { rehearse: false, backup_first: false })).as(Deploy);
    expect((await me.until(rollback.operation_id, "failed")).error).toMatchObject({
      code: "CODE_INVALID",
      reason: { code: "deploy_modules_missing", parameters: { modules: "fresh" } },
    });
    expect(await readDeploy(rollback.id)).toMatchObject({ status: "failed", failed_step: "fetchCode", downtime_seconds: null });
    expect(await dataOf(id)).toMatchObject({ modules: { acme: "1.0", fresh: "1.0" } });
  });

  test("finds the commit that a repository had before its modules were first set, however many there are since", async () => {
    const { id } = await me.instance();
    const name = unique("first");
    const repositories = [{ url: `https://git.example/${name}`, ref: "main" }];
    await api.put(`/instances/${id}/code`, { repositories, install_modules: ["acme"] });
    const first = await deployed(id, { rehearse: false, backup_first: false });
    const long = Object.fromEntries(
      Array.from({ length: 99 }, (_, index) => [`m${index}_`.padEnd(64, "x"), "1".padEnd(20, ".0")]),
    );
    for (let count = 0; count < 49; count++) expect((await put(name, { acme: "1.0", ...long })).status).toBe(200);
    await deployed(id, { rehearse: false, backup_first: false });
    const back = (await rollBack(id, first, { rehearse: false, backup_first: false })).as(Deploy);
    await me.until(back.operation_id);
    expect(await readDeploy(back.id)).toMatchObject({ status: "completed", commits: [{ commit: first.commits[0]?.commit }] });
  });

  test("is put back where the database has a module in a higher version that no deploy brought", async () => {
    const { id, name, first } = await prepared();
    await put(name, { acme: "1.0", other: "1.1" });
    await deployed(id, { rehearse: false, backup_first: false });
    const machine = String((await getServer(me.id, (await show(id)).server_id)).machine_id);
    // A user has installed it from the ERP's list of apps.
    await changeErp(machine, id, ({ database }) => ({
      database: database && { ...database, modules: { ...database.modules, other: "1.1" } },
    }));
    const rollback = (await rollBack(id, first, { rehearse: false, backup_first: false })).as(Deploy);
    expect((await me.until(rollback.operation_id, "failed")).error).toMatchObject({
      code: "CODE_INVALID",
      reason: { code: "rollback_modules_newer", parameters: { modules: `other (https://git.example/${name})` } },
    });
    expect(await readDeploy(rollback.id)).toMatchObject({ status: "failed", failed_step: "fetchCode", downtime_seconds: null });
  });

  test("is forecast with that deploy's commits and packages, and with the data with no update", async () => {
    const { id, name, first } = await prepared();
    const url = `https://git.example/${name}`;
    await deployed(id);
    await api.put(`/instances/${id}/code`, { repositories: [], python_packages: ["num2words==0.5.13"], install_modules: [] });
    const body = { rollback_to: first.id, restore_database: true };
    const planned = (await api.post(`/instances/${id}/deploys?dry_run=true`, body)).as(DryRun);
    // The image is a question of whether the server has reported it.
    expect(planned.effects.map(({ code }) => code).filter((code) => code !== "deploy_image_back")).toEqual([
      "deploy_rolled_back",
      "deploy_commit",
      "deploy_data_restored",
      "deploy_backup",
    ]);
    expect(planned.effects[1]?.parameters).toEqual({ url, ref: "main", commit: first.commits[0]?.commit });
    expect(planned.warning_reasons.map(({ code }) => code)).not.toContain("deploy_no_code");
  });

  test("brings no data back whose backup was deleted", async () => {
    const { id, first } = await prepared();
    const { backup_id } = await deployed(id);
    await me.until((await api.delete(`/backups/${backup_id}`)).as(z.looseObject({ id: z.string() })).id);
    expect((await rollBack(id, first, { restore_database: true })).error).toMatchObject({ code: "INVALID_STATE" });
  });
});

test("a dry run estimates the downtime by the last rehearsal of an update, or else by the last update", async () => {
  const { id, first } = await prepared();
  const choices = { rehearse: false, backup_first: false };
  const note = (deploy: Deploy, set: Partial<Deploy>) => updateOne(keys.deploy(me.id, deploy.id), { set }, {});
  const estimate = async () => (await api.post(`/instances/${id}/deploys?dry_run=true`, {})).as(DryRun).downtime_seconds;
  await note(first, { downtime_seconds: 40 });
  const second = await deployed(id, choices);
  await note(second, { downtime_seconds: 50 });
  const plain = await deployed(id);
  expect(plain.modules).toMatchObject({ updated: [], installed: [] });
  await note(plain, { downtime_seconds: 3 });
  expect(await estimate()).toBe(50);
  await note(first, { rehearsal: { status: "passed", duration_seconds: 30, error: null } });
  expect(await estimate()).toBe(30);
});

test("a dry run names the modules that a check has found changed, or says that they are not known yet", async () => {
  const { id, name } = await prepared();
  const planned = async (body: object = {}) =>
    (await api.post(`/instances/${id}/deploys?dry_run=true`, body))
      .as(DryRun)
      .effects.find(({ code }) => code?.startsWith("deploy_modules_") && code !== "deploy_modules_installed");
  const check = async () => me.until((await api.post(`/instances/${id}/code/check`, {})).as(Operation).id);
  expect(await planned()).toMatchObject({ code: "deploy_modules_unchanged" }); // the last deploy looked them up, too
  await check();
  expect(await planned()).toMatchObject({ code: "deploy_modules_found", parameters: { modules: "acme, other" } });
  expect(await planned({ modules: "all" })).toMatchObject({ code: "deploy_modules_all" });
  expect(await planned({ update_image: true })).toMatchObject({ code: "deploy_modules_changed" });
  await put(name, { acme: "1.2", other: "1.1" });
  await api.put(`/instances/${id}/code`, { install_modules: ["acme", "other"] });
  await deployed(id, { backup_first: false, rehearse: false, modules: ["other"] });
  expect(await planned()).toMatchObject({ code: "deploy_modules_changed" }); // acme was left out
  await deployed(id, { backup_first: false, rehearse: false });
  expect(await planned()).toMatchObject({ code: "deploy_modules_unchanged" });
  await put(name, { acme: "1.2", other: "1.2" });
  await check();
  expect(await planned()).toMatchObject({ parameters: { modules: "other" } });
  await api.put(`/instances/${id}/code`, { repositories: [{ url: `https://git.example/${name}`, ref: "release" }] });
  expect(await planned()).toMatchObject({ code: "deploy_modules_changed" });
});

test("deploys nothing that is changed at the same time", async () => {
  const { id } = await seedInstance(me.id);
  const repositories = [{ url: "https://git.example/acme", ref: "main" }];
  await api.put(`/instances/${id}/code`, { repositories });
  const instance = await getInstance(me.id, id);
  const code = await findCode(instance);
  await api.put(`/instances/${id}/code`, { repositories: [] });
  const change = startChange(await getAccount(me.id));
  const by = { actor: { type: "hook", id: "hook", name: "Deploy hook" }, requestId: "test" } as const;
  const choices = { select: "changed", rehearse: true, backup_first: true, update_image: false, note: null } as const;
  beginDeploy({ change, by, operationId: newId("operation") }, { instance, code }, choices);
  await expect(change.commit()).rejects.toMatchObject({ name: "Overtaken" });
});

test("a deploy of another account is not there", async () => {
  const { first } = await prepared();
  const stranger = await account({ seeded: true });
  expect((await stranger.api.get(`/deploys/${first.id}`)).status).toBe(404);
  expect((await api.get("/deploys/nothing")).status).toBe(404);
});
