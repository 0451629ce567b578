// Deploys and rollbacks that bring another image of the ERP.
import { beforeAll, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import { Code } from "../../shared/api/code.ts";
import { Deploy } from "../../shared/api/deploys.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import { NEWEST_IMAGE } from "../../shared/providers/sandbox/images.ts";
import { findErp } from "../../shared/providers/sandbox/machines.ts";
import { getServer } from "../../shared/records/servers.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
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

const { show, put, prepared, deployed } = deploysOf(() => ({ me, api }));

test("a deploy brings the newest images on request, updates everything with them, and takes them back if it fails", async () => {
  const { id } = await prepared("main", { domain: uniqueDomain("old-image.shop") });
  const imageOf = async () => (await findErp(machine_id, id))?.image;
  const { server_id } = await show(id);
  const machine_id = String((await getServer(me.id, server_id)).machine_id);
  const before = await imageOf();
  const planned = (await api.post(`/instances/${id}/deploys?dry_run=true`, { update_image: true })).as(DryRun);
  expect(planned.effects.map(({ code }) => code)).toContain("deploy_image");
  expect((await deployed(id)).image).toBeNull();
  expect(await imageOf()).toBe(before);
  const { image, status } = await deployed(id, { update_image: true });
  expect({ image, status }).toEqual({
    status: "completed",
    image: { id: await imageOf(), created_at: expect.any(String), previous_id: before },
  });
  expect(image?.id).not.toBe(before);
  const { erp_version: version } = await show(id);
  const ofCode = (await api.get(`/instances/${id}/code`)).as(Code).image;
  const newest = { created_at: image?.created_at, newest_created_at: image?.created_at, update_available: false };
  expect(ofCode).toEqual({ version, id: image?.id, follow: "pinned", ...newest });

  const other = await prepared("fail-update", { domain: uniqueDomain("old-image.shop") });
  const deploy = (await api.post(`/instances/${other.id}/deploys`, { update_image: true })).as(Deploy);
  await me.until(deploy.operation_id, "failed");
  const machine = String((await getServer(me.id, (await show(other.id)).server_id)).machine_id);
  expect((await findErp(machine, other.id))?.image).toBe(before);
});

test("data that comes back to a newer image is updated as a whole by the next deploy, also if it was never deployed to", async () => {
  const { id } = await me.instance({ domain: uniqueDomain("old-image.shop") });
  const { backup_id } = await deployed(id, { update_image: true });
  expect((await deployed(id, { backup_first: false })).modules?.updated).toEqual([]);
  const restored = await api.post(`/backups/${backup_id}/restore`, { backup_first: false });
  await me.until(restored.as(z.looseObject({ id: z.string() })).id);
  expect((await deployed(id, { backup_first: false })).modules?.updated).toEqual(["base"]);
  expect((await deployed(id, { backup_first: false })).modules?.updated).toEqual([]);
});

test("a dry run says that the modules of the enterprise edition stay as they are", async () => {
  for (const edition of ["community", "enterprise"]) {
    const { id } = await me.instance({ edition, domain: uniqueDomain("old-image.shop") });
    const warned = async (body: object) =>
      (await api.post(`/instances/${id}/deploys?dry_run=true`, body)).as(DryRun).warning_reasons.map(({ code }) => code);
    const isWarned = (await warned({ update_image: true })).includes("deploy_enterprise_stays");
    expect(isWarned, edition).toBe(edition === "enterprise");
    expect(await warned({})).not.toContain("deploy_enterprise_stays");
  }
});

test("an instance that follows the newest image gets it with every deploy", async () => {
  const { id } = await prepared("main", { domain: uniqueDomain("old-image.shop") });
  expect((await deployed(id, { backup_first: false })).image).toBeNull();
  const set = (await api.put(`/instances/${id}/code`, { image: { follow: "newest" } })).as(Code);
  expect(set.image).toMatchObject({ follow: "newest", version: "19.0" });
  const { effects } = (await api.post(`/instances/${id}/deploys?dry_run=true`, {})).as(DryRun);
  expect(effects.map(({ code }) => code)).toContain("deploy_image");
  expect((await deployed(id, { backup_first: false })).image).toMatchObject({ created_at: NEWEST_IMAGE.created_at });
});

test("a rollback brings back the image of that deploy, and on request the newest", async () => {
  const { id, name, first } = await prepared("main", { domain: uniqueDomain("old-image.shop") });
  await put(name, { acme: "1.0", other: "1.0" }); // so that nothing else keeps it from going back
  const { image } = await deployed(id, { update_image: true });
  const rolledBack = { rollback_to: first.id, backup_first: false };
  const effectsOf = async (body: object) =>
    (await api.post(`/instances/${id}/deploys?dry_run=true`, body)).as(DryRun).effects.map(({ code }) => code);
  expect(await effectsOf(rolledBack)).toContain("deploy_image_back");
  expect(await effectsOf({ ...rolledBack, update_image: true })).toContain("deploy_image");
  expect((await deployed(id, rolledBack)).image).toMatchObject({ id: image?.previous_id, previous_id: image?.id });
  expect(await show(id)).toMatchObject({ update_available: true });
  expect(await effectsOf(rolledBack)).not.toContain("deploy_image_back");
  expect((await deployed(id, rolledBack)).image).toBeNull();
});
