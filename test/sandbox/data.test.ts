// GET and PUT /sandbox/instances/:id/data
import { beforeAll, expect, test } from "vitest";
import { Operation } from "../../shared/api/operations.ts";
import type { Instance } from "../../shared/api/instances.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedInstance } from "../harness/seed.ts";

let me: TestAccount;
let instance: Instance;
beforeAll(async () => {
  me = await account({ seeded: true });
  instance = await me.instance();
});

const path = () => `/sandbox/instances/${instance.id}/data`;
const readData = async () => JSON.parse((await me.api.get(path())).text).data as unknown;

test("a new instance has no data, and writing replaces all of it", async () => {
  expect(await readData()).toEqual({});
  for (const data of [{ orders: 3, note: "hello" }, { nested: { list: [1, null, true, "é💥"] }, "": "no name" }, {}]) {
    expect((await me.api.put(path(), data)).body).toEqual({ success: true, data });
    expect(await readData()).toEqual(data);
  }
});

test("4 KiB of JSON is accepted; one byte more is rejected and the previous data stays", async () => {
  const sized = (bytes: number) => ({ text: "x".repeat(bytes - '{"text":""}'.length) });
  expect((await me.api.put(path(), sized(4096))).status).toBe(200);
  const response = await me.api.put(path(), sized(4097));
  expect(response.status).toBe(422);
  expect(await readData()).toEqual(sized(4096));
});

test("names that are special to parsers are ordinary names, or rejected", async () => {
  for (const text of ['{"constructor":1}', '{"__proto__":{"a":1}}', '{"toString":"x"}', '{"a.b":1}']) {
    const response = await me.api.send("PUT", path(), text);
    expect([200, 422]).toContain(response.status);
    if (response.status === 200) expect(JSON.stringify(await readData())).toBe(text);
  }
});

test("the data survives a stop and a start", async () => {
  await me.api.put(path(), { kept: true });
  for (const action of ["stop", "start"] as const) {
    await me.until((await me.api.post(`/instances/${instance.id}/actions`, { action })).as(Operation).id);
    expect(await readData()).toEqual({ kept: true });
  }
});

test.each(["provisioning", "restoring", "deleting", "failed"] as const)(
  "data cannot be written to an ERP that is %s",
  async (state) => {
    const { id } = await seedInstance(me.id, { state });
    const { error } = await me.api.put(`/sandbox/instances/${id}/data`, { a: 1 });
    expect(error).toMatchObject({ code: "INVALID_STATE", details: { status: state } });
  },
);

test("an instance that is still being created has no data", async () => {
  const early = await seedInstance(me.id, { state: "provisioning" });
  expect((await me.api.get(`/sandbox/instances/${early.id}/data`)).error?.code).toBe("INVALID_STATE");
});
