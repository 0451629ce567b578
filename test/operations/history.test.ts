// Events and ended operations do not stay for ever, and their lists and counts stay exact when they go.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import * as z from "zod";
import { Operation } from "../../shared/api/operations.ts";
import { Event } from "../../shared/api/events.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { beginDeletion } from "../../shared/records/backups.ts";
import { startChange, now } from "../../shared/data/change.ts";
import { removeHistory } from "../../shared/records/history.ts";
import { endOperation } from "../../shared/operations/work/operation-ends.ts";
import { newId } from "../../shared/domain/ids.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";

/** An operation that concerns the instance, and its event. */
async function deletion(me: TestAccount, instance: Awaited<ReturnType<typeof seedInstance>>, ended: boolean): Promise<string> {
  const backup = await seedBackup(instance);
  const change = startChange(await getAccount(me.id));
  const operation = beginDeletion(change, { operator: "test", requestId: "test" }, backup, newId("operation"));
  await change.commit();
  if (ended) await endOperation(operation, { succeeded: false, error: { code: "CANCELLED", message: "Test", reason: null } });
  return operation.id;
}

test("old events and ended operations go, with their counts and links, also if two runs remove them at once", async () => {
  const me = await account();
  const instance = await seedInstance(me.id);
  const open = await deletion(me, instance, false);
  for (let i = 0; i < 17; i++) await deletion(me, instance, true);
  await sleep(2); // `before` is in milliseconds
  const before = now();
  const recent = [await deletion(me, instance, true), await deletion(me, instance, false)].toReversed();

  const removed = () =>
    Promise.allSettled(
      (["event", "outcome", "operation"] as const).map((kind) => removeHistory(me.id, kind, { before, outOfTime: () => false })),
    );
  await Promise.all([removed(), removed()]);
  await removed(); // what lost to the other run

  const operations = await me.api.get("/operations");
  expect(operations.as(z.array(Operation)).map(({ id }) => id)).toEqual([...recent, open]);
  expect(operations.meta?.total).toBe(3);
  expect((await me.api.get("/operations?status=failed")).meta?.total).toBe(1);
  const ofInstance = await me.api.get(`/operations?resource_id=${instance.id}`);
  expect(ofInstance.as(z.array(Operation)).map(({ id }) => id)).toEqual([...recent, open]);
  const events = await me.api.get("/events");
  expect(events.as(z.array(Event)).every(({ created_at }) => created_at >= before)).toBe(true);
  expect(events.meta?.total).toBe(2);
  expect((await me.api.get("/events?class=outcomes")).as(z.array(Event))).toMatchObject([{ type: "backup.delete.failed" }]);
});

test("a run that is out of time removes nothing more", async () => {
  const me = await account();
  const instance = await seedInstance(me.id);
  await deletion(me, instance, true);
  await removeHistory(me.id, "operation", { before: new Date(Date.now() + 1000).toISOString(), outOfTime: () => true });
  expect((await me.api.get("/operations")).meta?.total).toBe(1);
});
