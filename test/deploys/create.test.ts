// POST /instances/:id/deploys, GET /instances/:id/deploys and GET /deploys/:id
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { Code } from "../../shared/api/code.ts";
import { Deploy } from "../../shared/api/deploys.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import { INSTANCE_STATUSES } from "../../shared/domain/lifecycle.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
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

const { dataOf, show, readDeploy, prepared, deployed, expectPutBack } = deploysOf(() => ({ me, api }));

test("a deploy installs what is wanted, updates what has changed, and says how long the ERP was stopped", async () => {
  const { id, name, first } = await prepared();
  expect(first).toMatchObject({
    status: "completed",
    trigger: "token",
    modules: { updated: [], installed: ["acme"], changed_but_not_installed: ["other"] },
    rehearsal: null,
    backup_id: null,
    commits: [{ url: `https://git.example/${name}`, ref: "main", previous_commit: null }],
  });
  expect(await dataOf(id)).toEqual({ orders: 1, modules: { acme: "1.0" } });

  const response = await api.post(`/instances/${id}/deploys`, { note: "Prices" });
  const deploy = response.as(Deploy);
  expect(response.headers["location"]).toBe(`/api/v1/deploys/${deploy.id}`);
  expect(deploy).toMatchObject({ status: "pending", note: "Prices", instance_id: id, commits: [], modules: null });
  expect(deploy.choices).toEqual({ modules: "changed", rehearse: true, backup_first: true, update_image: false });
  const { result } = await me.until(deploy.operation_id);
  expect(result).toMatchObject({ deploy_id: deploy.id, downtime_seconds: 1 });

  const second = await readDeploy(deploy.id);
  expect(second).toMatchObject({
    status: "completed",
    modules: { updated: ["acme"], installed: [], changed_but_not_installed: ["other"] },
    rehearsal: { status: "passed", duration_seconds: 1, error: null },
    downtime_seconds: 1,
    failed_step: null,
    log_excerpt: null,
  });
  expect(second.commits[0]?.previous_commit).toBe(first.commits[0]?.commit);
  expect(second.completed_at).not.toBeNull();
  expect(await dataOf(id)).toEqual({ orders: 1, modules: { acme: "1.1" } });
  expect(await show(id)).toMatchObject({ status: "running", operation_id: null, status_reason: null, missing_modules: [] });
  const backup = (await api.get(`/backups/${second.backup_id}`)).as(Backup);
  expect(backup).toMatchObject({ kind: "pre_deploy", status: "completed", instance_id: id });
  const code = (await api.get(`/instances/${id}/code`)).as(Code);
  expect(code.repositories[0]?.commit).toBe(second.commits[0]?.commit);

  const list = await api.get(`/instances/${id}/deploys`);
  expect(list.as(z.array(Deploy))).toEqual([second, first]);
  expect((await api.get(`/instances/${id}/deploys?status=failed`)).as(z.array(Deploy))).toEqual([]);
  expect((await api.get(`/instances/${id}/deploys?ids=${first.id}`)).as(z.array(Deploy))).toEqual([first]);
});

describe("a deploy that fails leaves code and data as they were", () => {
  test("at the ref fail-update", () =>
    expectPutBack("fail-update", { code: "UPDATE_FAILED", failed_step: "updateModules", downtime_seconds: 1 }));
});

describe("a rollback", () => {
  test("brings back the data of the last moment of that code, and its dry run says what is lost", async () => {
    const { id, first } = await prepared();
    const second = await deployed(id);
    await api.put(`/sandbox/instances/${id}/data`, { orders: 2 });
    const body = { rollback_to: first.id, restore_database: true };
    const { effects, warning_reasons } = (await api.post(`/instances/${id}/deploys?dry_run=true`, body)).as(DryRun);
    const backup = (await api.get(`/backups/${second.backup_id}`)).as(Backup);
    expect(effects).toContainEqual(
      expect.objectContaining({ code: "deploy_data_restored", parameters: { since: backup.created_at, backup: backup.id } }),
    );
    expect(warning_reasons).toContainEqual({
      code: "deploy_data_lost",
      parameters: { duration: "0 min", since: backup.created_at },
    });
    const deploy = (await api.post(`/instances/${id}/deploys`, body)).as(Deploy);
    await me.until(deploy.operation_id);
    expect(await readDeploy(deploy.id)).toMatchObject({ status: "completed", modules: { updated: [], installed: [] } });
    expect(await dataOf(id)).toEqual({ orders: 1, modules: { acme: "1.0" } });
    expect((await api.get(`/instances/${id}/code`)).as(Code).repositories[0]?.commit).toBe(first.commits[0]?.commit);
  });
});

test("is possible in the statuses that the lifecycle allows, while nothing else works on the instance", async () => {
  for (const state of INSTANCE_STATUSES) {
    const { id } = await seedInstance(me.id, { state });
    const response = await api.post(`/instances/${id}/deploys?dry_run=true`, {});
    const possible = ["running", "stopped", "failed"].includes(state);
    expect(response.status, state).toBe(possible ? 200 : 409);
  }
  const heldInstance = await seedInstance(me.id, { operation_id: unusedId("operation") });
  expect((await api.post(`/instances/${heldInstance.id}/deploys`, {})).error?.code).toBe("OPERATION_IN_PROGRESS");
});

test("a dry run names the commits, the modules, and what goes without a rehearsal or a backup", async () => {
  const { id, name } = await prepared();
  const url = `https://git.example/${name}`;
  const { effects, downtime_seconds, warning_reasons } = (
    await api.post(`/instances/${id}/deploys?dry_run=true`, { rehearse: false, backup_first: false, modules: ["acme"] })
  ).as(DryRun);
  expect(effects.map(({ code, parameters }) => [code, parameters])).toEqual([
    ["deploy_commit", { url, ref: "main", commit: expect.stringMatching(/^[0-9a-f]{40}$/) }],
    ["deploy_modules_named", { modules: "acme" }],
    ["deploy_modules_installed", { modules: "acme" }],
  ]);
  expect(downtime_seconds).toBe(1);
  expect(warning_reasons.map(({ code }) => code)).toEqual(["deploy_not_rehearsed", "deploy_without_backup"]);
  expect((await show(id)).operation_id).toBeNull();
});
