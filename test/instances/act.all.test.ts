// POST /instances/:id/actions: of stopped and failed instances, and several actions at once.
import { beforeAll, describe, expect, test } from "vitest";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { getInstance } from "../../shared/records/instances.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, type TestAccount } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";

let me: TestAccount;
let serverId: string;
beforeAll(async () => {
  me = await account({ seeded: true });
  await setQuota(me.id, "server", 100);
  serverId = (await seedServer(me.id)).id;
});

const act = (api: Client, id: string, action: string) => api.post(`/instances/${id}/actions`, { action });
const show = async (id: string) => (await (await me.token()).api.get(`/instances/${id}`)).as(Instance);

describe("what is allowed besides the status", () => {
  test("an instance that failed after its installation allows everything that a failed instance allows", async () => {
    const other = await account();
    const { id } = await other.instance();
    expect((await getInstance(other.id, id)).installed).toBe(true);
    const failed = await seedInstance(me.id, { server_id: serverId, state: "failed" });
    expect((await show(failed.id)).allowed_actions).toEqual(["start", "restart", "restore", "deploy", "delete"]);
  });
});

test("a stopped instance stays stopped after its backup", async () => {
  const instance = await me.instance();
  await me.until((await act(me.api, instance.id, "stop")).as(Operation).id);
  await me.until((await act(me.api, instance.id, "backup")).as(Operation).id);
  expect((await show(instance.id)).status).toBe("stopped");
});

test("only one of several conflicting concurrent actions succeeds, and the errors of the others name its operation", async () => {
  const instance = await me.instance();
  const responses = await Promise.all(
    ["stop", "restart", "stop", "backup", "restart"].map((action) => act(me.api, instance.id, action)),
  );
  const [won, ...more] = responses.filter(({ status }) => status === 202).map((response) => response.as(Operation));
  expect(more).toEqual([]);
  for (const { error } of responses.filter(({ status }) => status !== 202))
    expect(error).toMatchObject({ code: "OPERATION_IN_PROGRESS", details: { operation_id: won?.id } });
  await me.until(won?.id ?? null);
});
