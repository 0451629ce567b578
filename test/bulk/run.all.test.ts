// POST /bulk: the actions one by one, and what is special about a bulk action's operation.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { Deploy } from "../../shared/api/deploys.ts";
import { BackupPolicy } from "../../shared/api/policy-shown.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { begin, bulk, ended, itemsOf } from "./requests.ts";

let me: TestAccount;
let serverId: string;
beforeAll(async () => {
  me = await account({ seeded: true });
  serverId = (await seedServer(me.id)).id;
  await setQuota(me.id, "server", 100);
});

describe("a bulk action", () => {
  test("deploys to instances, with the newest images if that is wanted, and each deploy says that a bulk action began it", async () => {
    const { id } = await me.instance({ domain: uniqueDomain("old-image.shop") });
    const request = { action: "deploy", select: { ids: [id] }, parameters: { update_image: true, backup_first: false } };
    const planned = (await bulk(me.api, request, "?dry_run=true")).as(DryRun);
    expect(planned.effects.map(({ code }) => code)).toEqual(["deploy_modules_changed", "deploy_image", "deploy_rehearsed"]);
    expect(planned.warning_reasons).toMatchObject([{ code: "deploy_without_backup" }]);
    const operation = await begin(me.api, request);
    expect((await ended(me, operation.id)).result?.bulk).toMatchObject({ succeeded: 1, failed: 0 });
    const [deploy] = (await me.api.get(`/instances/${id}/deploys`)).as(z.array(Deploy));
    expect(deploy).toMatchObject({ trigger: "bulk", status: "completed", image: { id: expect.any(String) }, backup_id: null });
    expect((await me.api.get(`/instances/${id}`)).as(Instance).update_available).toBe(false);
  });

  test("reboots servers, and names in its dry run whose ERPs are away", async () => {
    const { id } = await me.server();
    const instance = await me.instance({ server_id: id });
    const offline = await seedServer(me.id, { state: "unreachable" });
    const request = { action: "reboot", select: { ids: [id, offline.id] } };
    const planned = (await bulk(me.api, request, "?dry_run=true")).as(DryRun);
    expect(planned.effects.map(({ resource, code }) => [resource.id, code])).toEqual([
      [id, "server_rebooted"],
      [instance.id, "erp_away_for_reboot"],
    ]);
    expect([planned.downtime_seconds, planned.warnings.length]).toEqual([null, 1]);
    const operation = await begin(me.api, request);
    expect((await ended(me, operation.id)).result?.bulk).toMatchObject({ succeeded: 1, failed: 1 });
    expect((await itemsOf(me.api, operation.id))[1]).toMatchObject({ status: "failed", error: { code: "INVALID_STATE" } });
  });

  test("sets backup policies, and deletes them again", async () => {
    const { id } = await seedInstance(me.id, { server_id: serverId });
    const policy = { schedule: "0 3 * * *", keep: { last: 5 } };
    await ended(me, (await begin(me.api, { action: "set_policy", select: { ids: [id] }, parameters: policy })).id);
    expect((await me.api.get(`/instances/${id}/backup-policy`)).as(BackupPolicy)).toMatchObject({
      ...policy,
      timezone: "UTC",
      enabled: true,
    });
    await ended(me, (await begin(me.api, { action: "delete_policy", select: { ids: [id, id] } })).id);
    expect((await me.api.get(`/instances/${id}/backup-policy`)).status).toBe(404);
  });

  test("locks backups and unlocks them; a locked one is not deleted", async () => {
    const instance = await seedInstance(me.id, { server_id: serverId });
    const { id } = await seedBackup(instance);
    const locked = async () => (await me.api.get(`/backups/${id}`)).as(Backup).locked;
    await ended(me, (await begin(me.api, { action: "lock", select: { ids: [id] } })).id);
    expect(await locked()).toBe(true);
    const deletion = await begin(me.api, { action: "delete", select: { ids: [id] } });
    await ended(me, deletion.id);
    expect((await itemsOf(me.api, deletion.id))[0]).toMatchObject({ status: "failed", error: { code: "INVALID_STATE" } });
    await ended(me, (await begin(me.api, { action: "unlock", select: { ids: [id] } })).id);
    expect(await locked()).toBe(false);
  });

  test("deletes instances with their backups, but for a locked one, which the item says", async () => {
    const [one, other] = [await me.instance(), await me.instance()];
    const [first, second, lockedBackup] = [await me.backup(one.id), await me.backup(one.id), await me.backup(other.id)];
    await me.api.put(`/backups/${lockedBackup.id}`, { locked: true });
    const { id } = await begin(me.api, {
      action: "delete",
      select: { ids: [one.id, other.id] },
      parameters: { with_backups: true },
    });
    expect((await ended(me, id)).result?.bulk).toMatchObject({ succeeded: 1, failed: 1 });
    for (const path of [`/instances/${one.id}`, `/instances/${other.id}`, `/backups/${first.id}`, `/backups/${second.id}`])
      expect((await me.api.get(path)).status, path).toBe(404);
    expect((await me.api.get(`/backups/${lockedBackup.id}`)).status).toBe(200);
    expect((await itemsOf(me.api, id))[1]?.error).toMatchObject({ reason: { code: "backups_left", parameters: { count: "1" } } });
  });

  test("with an Idempotency-Key begins once", async () => {
    const { id } = await seedInstance(me.id, { server_id: serverId });
    const send = () =>
      me.api.post(
        "/bulk",
        { action: "set_labels", select: { ids: [id] }, parameters: { add: { x: "y" } } },
        { headers: { "Idempotency-Key": `twice-${id}` } },
      );
    const first = (await send()).as(Operation);
    const again = await send();
    expect(again.as(Operation).id).toBe(first.id);
    expect(again.headers["idempotent-replayed"]).toBe("true");
    await ended(me, first.id);
  });
});

describe("who may see and control a bulk action", () => {
  test("other operations have no items and cannot be controlled", async () => {
    const { id } = await me.instance();
    const { id: stop } = (await me.api.post(`/instances/${id}/actions`, { action: "stop" })).as(Operation);
    expect(await itemsOf(me.api, stop)).toEqual([]);
    expect((await me.api.post(`/operations/${stop}/actions`, { action: "pause" })).error?.code).toBe("INVALID_STATE");
    await me.until(stop);
  });
});
