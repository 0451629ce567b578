// PUT /instances/:id
import { beforeAll, expect, test } from "vitest";
import { Instance } from "../../shared/api/instances.ts";
import { INSTANCE_STATUSES } from "../../shared/domain/lifecycle.ts";
import { Operation } from "../../shared/api/operations.ts";
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

test("a new domain takes an operation: the old one serves until it ends, and is free afterwards", async () => {
  const instance = await me.instance();
  const domain = uniqueDomain("moved");
  const response = await me.api.put(`/instances/${instance.id}`, { domain, name: "Moved" });
  const updatedInstance = response.as(Instance);
  expect(updatedInstance).toMatchObject({
    status: "running",
    domain: instance.domain,
    name: "Moved",
    operation_id: expect.stringMatching(/^op_/),
  });
  await me.until(updatedInstance.operation_id);
  expect((await me.api.get(`/operations/${updatedInstance.operation_id}`)).as(Operation)).toMatchObject({
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
