// The domains that an instance had: how long they redirect, and who takes them over.
import { beforeAll, expect, test } from "vitest";
import { DryRun } from "../../shared/api/dry-run.ts";
import { Instance } from "../../shared/api/instances.ts";
import { keys } from "../../shared/data/keys.ts";
import { WatchedServer } from "../../shared/records/schemas/server.ts";
import { find, updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account({ seeded: true });
});

const show = async (id: string) => (await me.api.get(`/instances/${id}`)).as(Instance);

test("an old domain redirects for 90 days, until another instance takes it or the instance has it again", async () => {
  const { id, domain: first } = await me.instance();
  const [second, third] = [uniqueDomain(), uniqueDomain()];
  const move = async (instanceId: string, domain: string): Promise<void> => {
    const { operation_id } = (await me.api.put(`/instances/${instanceId}`, { domain })).as(Instance);
    await me.until(operation_id);
  };
  const redirected = async () => (await show(id)).previous_domains.map(({ domain }) => domain);
  expect(await redirected()).toEqual([]);
  await move(id, second);
  const [{ redirects_until } = { redirects_until: "" }] = (await show(id)).previous_domains;
  expect(Math.round((Date.parse(redirects_until) - Date.now()) / 86_400_000)).toBe(90);
  await move(id, third);
  expect(await redirected()).toEqual([second, first]);
  await move(id, second);
  expect(await redirected()).toEqual([third, first]);

  const body = await me.instanceBody({ domain: first });
  const planned = (await me.api.post("/instances?dry_run=true", body)).as(DryRun);
  expect(planned.effects).toContainEqual(
    expect.objectContaining({
      action: "update",
      resource: { type: "instance", id },
      code: "redirect_ended",
      parameters: { domain: first },
    }),
  );
  expect(await redirected(), "a dry run takes nothing").toEqual([third, first]);
  const other = (await me.api.post("/instances", body)).as(Instance);
  expect(await redirected()).toEqual([third]);
  await me.until(other.operation_id);
  await move(other.id, third);
  expect(await redirected()).toEqual([]);
  expect((await show(other.id)).previous_domains).toMatchObject([{ domain: first }]);

  const past = { domain: "past.example.com", redirects_until: "2026-01-01T00:00:00.000Z" };
  await updateOne(keys.record("instance", me.id, id), { set: { previous_domains: [past] } }, {});
  expect(await redirected()).toEqual([]);
});

test("the machine of an instance learns that another has taken its old domain", async () => {
  const { id, domain, server_id } = await me.instance();
  await me.until((await me.api.put(`/instances/${id}`, { domain: uniqueDomain() })).as(Instance).operation_id);
  const source = await me.instance();
  const backup = await me.backup(source.id);
  const copy = { name: "Copy", domain, backup_id: backup.id };
  await me.until((await me.api.post(`/instances/${source.id}/clone`, copy)).as(Instance).operation_id);
  const watched = await find({ key: keys.watchedServer(server_id), schema: WatchedServer });
  expect(watched?.quotas_changed_at).toBeDefined();
  expect([...(watched?.ended_redirects ?? [])]).toContain(domain);
});

test("an instance redirects its five newest old domains, and a dry run names the one that a move ends", async () => {
  const { id, domain: first } = await me.instance();
  const domains = Array.from({ length: 7 }, () => uniqueDomain());
  const ended: unknown[] = [];
  for (const domain of domains) {
    const { effects } = (await me.api.put(`/instances/${id}?dry_run=true`, { domain })).as(DryRun);
    ended.push(
      effects.filter(({ code }) => code === "redirect_ended").map(({ resource, parameters }) => [resource.id, parameters]),
    );
    await me.until((await me.api.put(`/instances/${id}`, { domain })).as(Instance).operation_id);
  }
  expect(ended).toEqual([[], [], [], [], [], [[id, { domain: first }]], [[id, { domain: domains[0] }]]]);
  const { previous_domains } = await show(id);
  expect(previous_domains.map(({ domain }) => domain)).toEqual(domains.slice(1, 6).toReversed());
  const writer = await me.token(["instances:write"]);
  const unread = (await writer.api.put(`/instances/${id}?dry_run=true`, { domain: uniqueDomain() })).as(DryRun);
  expect(unread.effects.map(({ code }) => code)).toEqual(["domain_set"]);
});
