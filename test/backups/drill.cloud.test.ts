// POST /backups/:id/drill
import { beforeAll, expect, test } from "vitest";
import { Event } from "../../shared/api/events.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { drillsOf, passedOf } from "./drills.ts";

let cloud: TestCloud;
let me: TestAccount;
beforeAll(async () => {
  cloud = await processCloud();
  me = await account({ seeded: true });
});

const { begin, show, drilled } = drillsOf(() => ({ cloud, me }));

test("a drill restores a backup to nowhere, and says that it can be restored", async () => {
  const instance = await me.instance();
  const backup = await me.backup(instance.id);
  expect(backup.drill).toBeNull();
  const operation = await begin(backup.id);
  expect(operation).toMatchObject({ type: "backup.drill", resource: { type: "backup", id: backup.id } });
  await me.until(operation.id);
  const after = await show(backup.id);
  expect(after).toEqual({ ...backup, drill: { status: "passed", at: expect.any(String), checks: expect.any(Array) } });
  expect(after.drill?.checks.map(({ name }) => name)).toEqual(["checksum", "restores", "boots", "rows", "files"]);
  expect(passedOf(after)).toEqual({ checksum: true, restores: true, boots: true, rows: true, files: true });
  const { etag = "" } = (await me.api.get(`/backups/${backup.id}`)).headers;
  expect((await me.api.put(`/backups/${backup.id}`, { note: "Drilled" }, { headers: { "if-match": etag } })).status).toBe(200);
  expect((await me.api.get(`/instances/${instance.id}`)).text).toContain('"status":"running"');
  for (const id of [instance.id, backup.id, instance.server_id])
    expect((await me.api.get(`/operations?resource_id=${id}`)).text, id).toContain(operation.id);
});

test("a drill that finds something wrong succeeds with a failed result and an event, once", async () => {
  const backup = await me.backup((await me.instance()).id, { note: "fail-drill" });
  const after = await drilled(backup.id);
  expect(after.drill?.status).toBe("failed");
  expect(passedOf(after)).toEqual({ checksum: true, restores: true, boots: true, rows: false, files: true });
  const events = (await me.api.get("/events?per_page=100")).as(Event.array());
  const failed = events.filter(({ type, resource }) => type === "backup.drill_failed" && resource.id === backup.id);
  expect(failed).toMatchObject([{ actor: { type: "token", id: me.tokenId } }]);
  // Whoever gets the alarm reads here which backup it is.
  const name = cloud.template.functions.find((each) => /drillbackup/i.test(each.name))?.name ?? "";
  await expect
    .poll(() => cloud.lambda.logs(name)) // a line arrives from the function's thread, which may be later than its response
    .toContainEqual(expect.stringMatching(`"a restore drill failed".*"account":"${me.id}".*"backup":"${backup.id}".*"rows"`));
});

test("a drill needs a completed backup and an active server", async () => {
  const server = await seedServer(me.id, { state: "unreachable" });
  const instance = await seedInstance(me.id, { server_id: server.id });
  const drill = async (id: string) => (await me.api.post(`/backups/${id}/drill`, {})).error;
  expect(await drill((await seedBackup(instance)).id)).toMatchObject({ code: "INVALID_STATE", details: { resource: server.id } });
  const running = await seedBackup(await seedInstance(me.id), { state: "running" });
  expect(await drill(running.id)).toMatchObject({ code: "INVALID_STATE", details: { status: "running" } });
  const operation_id = unusedId("operation");
  const heldBackup = await seedBackup(await seedInstance(me.id), { state: "deleting", operation_id });
  expect(await drill(heldBackup.id)).toMatchObject({ code: "OPERATION_IN_PROGRESS", details: { operation_id } });
  await updateOne(keys.record("backup", me.id, heldBackup.id), { set: { operation_id: null } }, {});
});
