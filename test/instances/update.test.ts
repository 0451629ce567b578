// PUT /instances/:id
import { beforeAll, expect, test } from "vitest";
import { DryRun } from "../../shared/api/dry-run.ts";
import * as instances from "../../shared/api/instances.ts";
import { Instance } from "../../shared/api/instances.ts";
import { INSTANCE_STATUSES } from "../../shared/domain/lifecycle.ts";
import { Operation } from "../../shared/api/operations.ts";
import { keys } from "../../shared/data/keys.ts";
import { WatchedServer } from "../../shared/records/schemas/server.ts";
import { find, updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";

let me: TestAccount;
let serverId: string;
beforeAll(async () => {
  me = await account({ seeded: true });
  serverId = (await seedServer(me.id)).id;
});

const show = async (id: string) => (await me.api.get(`/instances/${id}`)).as(Instance);

test("name and email change immediately, alone or together; fields that were not sent keep their value", async () => {
  const { id } = await seedInstance(me.id, { server_id: serverId });
  let expected = await show(id);
  for (const fields of [
    { name: "Renamed" },
    { admin_email: "new@example.com" },
    { name: "Both", admin_email: "both@example.com" },
  ]) {
    const updated = (await me.api.put(`/instances/${id}`, fields)).as(Instance);
    const admin_email_unicode = fields.admin_email ?? expected.admin_email_unicode;
    expected = { ...expected, ...fields, admin_email_unicode, updated_at: updated.updated_at };
    expect(updated).toEqual(expected);
    expect(await show(id)).toEqual(expected);
  }
});

test.each([
  ["  Shop  ", "Shop"],
  ["\u00a0Shop\u3000", "Shop"],
  ["می\u200cخواهم", "می\u200cخواهم"],
  ["👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"],
  ["👧".repeat(64), "👧".repeat(64)],
  ["- ü ß 店 -", "- ü ß 店 -"],
  ["I \u2764\ufe0f you", "I \u2764\ufe0f you"],
  [`${" ".repeat(80)}Shop${" ".repeat(80)}`, "Shop"],
])("the name %j is stored as %j", async (name, kept) => {
  const { id } = await seedInstance(me.id, { server_id: serverId });
  expect((await (await me.token()).api.put(`/instances/${id}`, { name })).as(Instance).name).toBe(kept);
});

test("an email address is any that RFC 5321 allows, except quoted ones", async () => {
  const { id } = await seedInstance(me.id, { server_id: serverId });
  const { api } = await me.token();
  const put = (admin_email: string) => api.put(`/instances/${id}?dry_run=true`, { admin_email });
  for (const valid of [
    "admin@example.xn--p1ai",
    "sales&marketing@example.com",
    "o'neil/#1=!@shop.example",
    `${"a".repeat(64)}@x.org`,
  ])
    expect((await put(valid)).status, valid).toBe(200);
  const long = "a".repeat(64);
  for (const invalid of [
    "a@x-.com",
    "a@-x.com",
    `a@${long}.com`,
    `${long}a@x.org`,
    ".a@x.org",
    "a..b@x.org",
    "a.@x.org",
    "a@x",
    "a@1.2",
    '"a b"@x.org',
  ])
    expect((await put(invalid)).error, invalid).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "admin_email" } });
});

test("invisible and deceptive names are invalid, and rejected quickly", async () => {
  const { id } = await seedInstance(me.id, { server_id: serverId });
  const { api } = await me.token();
  for (const name of [
    " ",
    "\u200d",
    " \u200c\u200d ",
    "\u3164",
    "\u2800",
    "\ufe0f",
    "\u034f",
    "\u17b4",
    "\u{1d173}",
    "a\uffff",
    "a\nb",
    "a\u2028b",
    "a\u202eb",
    "a\u200bb",
    "a\u00adb",
    "\ufeffa",
    "a\ue000",
    "a\u{e0041}",
    "a\u{10ffff}",
    "a\udfff",
    "👧".repeat(65),
    `${" ".repeat(60_000)}\n`,
    `${"a".repeat(60_000)}\n`,
  ]) {
    const response = await api.put(`/instances/${id}`, { name });
    expect(response.error, JSON.stringify(name.slice(0, 20))).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field: "name" },
    });
  }
  const used = process.cpuUsage();
  for (let i = 0; i < 10; i++)
    for (const name of [`${" ".repeat(60_000)}\n`, `${"a".repeat(60_000)}\n`])
      expect(instances.update().body.safeParse({ name }).success).toBe(false);
  expect(process.cpuUsage(used).user / 1000, "milliseconds of CPU").toBeLessThan(2_000);
});

test("a new domain takes an operation: the old one serves until it ends, and is free afterwards", async () => {
  const instance = await me.instance();
  const domain = uniqueDomain("moved");
  const response = await me.api.put(`/instances/${instance.id}`, { domain, name: "Moved" });
  const begun = response.as(Instance);
  expect(begun).toMatchObject({
    status: "running",
    domain: instance.domain,
    name: "Moved",
    operation_id: expect.stringMatching(/^op_/),
  });
  await me.until(begun.operation_id);
  expect((await me.api.get(`/operations/${begun.operation_id}`)).as(Operation)).toMatchObject({
    type: "instance.update",
    status: "succeeded",
  });
  expect(await show(instance.id)).toMatchObject({
    domain,
    url: `https://${domain}`,
    name: "Moved",
    operation_id: null,
    status: "running",
    dns_record: { type: "A", name: domain },
  });
  const other = await seedInstance(me.id, { server_id: serverId });
  expect((await me.api.put(`/instances/${other.id}`, { domain })).error).toMatchObject({
    code: "CONFLICT",
    details: { field: "domain" },
  });
  const next = await me.api.post("/instances", await me.instanceBody({ domain: instance.domain }));
  expect(next.status).toBe(201);
});

test("changing the domain to the current one starts no operation", async () => {
  const { id, domain } = await seedInstance(me.id, { server_id: serverId });
  expect((await me.api.put(`/instances/${id}`, { domain })).as(Instance)).toMatchObject({ domain, operation_id: null });
});

test("another instance's domain is a conflict, and nothing of the request is applied", async () => {
  const [one, other] = [await seedInstance(me.id, { server_id: serverId }), await seedInstance(me.id, { server_id: serverId })];
  const { error } = await me.api.put(`/instances/${one.id}`, { domain: other.domain, name: "Not this" });
  expect(error).toMatchObject({ code: "CONFLICT", details: { field: "domain", resource: other.id } });
  expect(await show(one.id)).toMatchObject({ name: one.name, domain: one.domain, operation_id: null });
});

test("an update needs at least one field", async () => {
  const { id } = await seedInstance(me.id, { server_id: serverId });
  expect((await me.api.put(`/instances/${id}`, {})).error).toMatchObject({
    code: "VALIDATION_ERROR",
    details: { field: "name" },
  });
});

test.each(INSTANCE_STATUSES)(
  "an instance that is %s can change its domain only if the table of statuses allows it",
  async (state) => {
    const { id } = await seedInstance(me.id, { server_id: serverId, state });
    const response = await (await me.token()).api.put(`/instances/${id}`, { domain: uniqueDomain() });
    const allowed = ["running", "stopped"].includes(state);
    expect(response.status).toBe(allowed ? 200 : 409);
    if (!allowed) expect(response.error).toMatchObject({ code: "INVALID_STATE", details: { status: state } });
  },
);

test("while an operation is in progress, changing the domain fails and names the operation", async () => {
  const instance = await me.instance();
  const responses = await Promise.all(
    [uniqueDomain(), uniqueDomain()].map((domain) => me.api.put(`/instances/${instance.id}`, { domain })),
  );
  const won = responses.find(({ status }) => status === 200)?.as(Instance);
  const lost = responses.find(({ status }) => status === 409);
  if (lost !== undefined)
    expect(lost.error).toMatchObject({ code: "OPERATION_IN_PROGRESS", details: { operation_id: won?.operation_id } });
  expect(won).toBeDefined();
  await me.until(won?.operation_id ?? null);
});

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
