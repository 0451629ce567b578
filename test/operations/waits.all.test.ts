// GET /operations/:id?wait: how many requests of a credential may wait, and how often a wait polls.
import { beforeAll, describe, expect, test, vi } from "vitest";
import { Operation } from "../../shared/api/operations.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { startChange } from "../../shared/data/change.ts";
import { encodeStamp } from "../../shared/data/stamps.ts";
import { keys } from "../../shared/data/keys.ts";
import { reserveOperation } from "../../shared/records/operations.ts";
import { endOperation } from "../../shared/operations/work/operation-ends.ts";
import type { OperationRecord } from "../../shared/records/schemas/operation.ts";
import { getServer, moveServerToDeleting } from "../../shared/records/servers.ts";
import { updateOne } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { pauseBeforePoll } from "../../shared/domain/limits.ts";
import { fingerprintOfId } from "../../shared/domain/token-value.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { seedServer } from "../harness/seed.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

/** An operation that nobody carries out: it does not change until the test ends it. */
async function openOperation(): Promise<OperationRecord> {
  const { id } = await seedServer(me.id);
  const server = await getServer(me.id, id);
  const change = startChange(await getAccount(me.id));
  const operationId = newId("operation");
  moveServerToDeleting(change, server, operationId);
  const resource = { type: "server", id, name: server.name } as const;
  const by = { operator: "test", requestId: "test" };
  const operation = reserveOperation(change, by, { id: operationId, type: "server.delete", resource, before: server.state });
  await change.commit();
  return operation;
}
const end = (operation: OperationRecord) => endOperation(operation, { succeeded: true });

describe("concurrent waits", () => {
  /** Sends concurrent waits of 20 seconds; `early` are those that got a response while the operation was still open. */
  async function waits(api: Client, count: number, earlyCount: number) {
    const operation = await openOperation();
    const early: Operation[] = [];
    const all = Array.from({ length: count }, async () => {
      const latest = (await api.get(`/operations/${operation.id}?wait=20`)).as(Operation);
      if (latest.status === "pending") early.push(latest);
      return latest;
    });
    await vi.waitFor(() => expect(early).toHaveLength(earlyCount), { timeout: 15_000 });
    await end(operation);
    return (await Promise.all(all)).filter(({ status }) => status === "succeeded").length;
  }

  test("a credential can have three waiting requests; more get a response immediately, and slots are released afterwards", async () => {
    const { api } = await me.token();
    expect(await waits(api, 8, 5)).toBe(3);
    expect(await waits(api, 3, 0)).toBe(3);
    const session = await me.session(await me.anotherUser());
    const [one, other] = await Promise.all([waits(api, 4, 1), waits(session, 4, 1)]);
    expect([one, other], "each credential has its own").toEqual([3, 3]);
  });

  test("a rejected wait takes no slot", async () => {
    const { api } = await me.token();
    for (const wait of ["21", "-1", "x", "20", "20&colour=red", "20&wait=20"])
      for (let i = 0; i < 3; i++)
        expect((await api.get(`/operations/${unusedId("operation")}?wait=${wait}`)).status).toBe(wait === "20" ? 404 : 422);
    expect(await waits(api, 3, 0)).toBe(3);
  });

  test("waits whose function died release their slots when they expire", async () => {
    const { id, api } = await me.token();
    const places = (until: number) => {
      const stamp = encodeStamp(until);
      return { set: { w0: stamp, w1: stamp, w2: stamp } };
    };
    const key = keys.tokenAccess(fingerprintOfId(id));
    await updateOne(key, places(Date.now() + 60_000), {});
    const operation = await openOperation();
    expect((await api.get(`/operations/${operation.id}?wait=20`)).as(Operation).status).toBe("pending");
    await updateOne(key, places(Date.now() - 1), {});
    expect(await waits(api, 3, 0)).toBe(3);
    await end(operation);
  });

  test("a wait polls soon at first and then seldom: fifteen times in twenty seconds", () => {
    let waited = 0;
    let looks = 1;
    while (waited < 20_000) waited += pauseBeforePoll(looks++);
    expect([pauseBeforePoll(1), looks]).toEqual([250, 15]);
  });
});
