// Pushes that deploy nothing, now or ever: what comes in between.
import { expect, test } from "vitest";
import { Deploy } from "../../shared/api/deploys.ts";
import { Operation } from "../../shared/api/operations.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { PUSH } from "../../shared/domain/limits.ts";
import { minutesAgo, scheduleOf } from "../backup-policy/policies.ts";
import { account } from "../harness/account.ts";
import { anonymous } from "../harness/client.ts";
import { processCloud } from "../harness/cloud.ts";
import { everyItem } from "../harness/table.ts";
import { pushesOf } from "./pushes.ts";

const cloud = await processCloud();
const { tick } = scheduleOf(cloud);
const me = await account({ seeded: true });

const { following, codeOf, deploysOf } = pushesOf(me);

test("a push changes nothing where nothing is to be deployed, or the hook was removed", async () => {
  const { id, push, hook } = await following();
  await me.api.put(`/instances/${id}/code`, { auto_deploy: "off" });
  await push("1.0");
  await tick();
  await tick();
  expect([await deploysOf(id), (await codeOf(id)).repositories[0]?.checked_at]).toEqual([[], null]);

  await me.api.put(`/instances/${id}/code`, { auto_deploy: "push" });
  await anonymous.post(hook, {});
  await me.api.post(`/instances/${id}/code/rotate-hook`, { enabled: false });
  for (let i = 0; i < 2; i++) await tick();
  expect([await deploysOf(id), (await codeOf(id)).repositories[0]?.checked_at]).toEqual([[], null]);
});

test("a push deploys nothing more than what is deployed", async () => {
  const { id, push, hook } = await following();
  await me.api.put(`/instances/${id}/code`, { auto_deploy: "off" });
  await push("1.0");
  await me.until((await me.api.post(`/instances/${id}/deploys`, {})).as(Deploy).operation_id);
  await me.api.put(`/instances/${id}/code`, { auto_deploy: "push" });
  await anonymous.post(hook, {});
  for (let i = 0; i < 3; i++) await tick();
  expect(await deploysOf(id)).toHaveLength(1);
});

test("a push waits while something else holds the instance, and is dropped with an event after an hour", async () => {
  const { id, push } = await following();
  await push("1.0");
  await tick();
  const held = keys.record("instance", me.id, id);
  await updateOne(held, { set: { operation_id: "op_none" } }, {});
  await tick();
  expect(await deploysOf(id)).toEqual([]);
  await updateOne(held, { set: { operation_id: null } }, {});
  await tick();
  expect(await deploysOf(id)).toHaveLength(1);

  await push("1.1");
  await tick();
  await updateOne(held, { set: { operation_id: "op_none" } }, {});
  await tick();
  await updateOne(keys.push(id), { set: { held_since: minutesAgo(PUSH.triedMinutes + 1) } }, {});
  await tick();
  await updateOne(held, { set: { operation_id: null } }, {});
  await tick();
  expect(await deploysOf(id)).toHaveLength(1);
  const events = await me.api.get("/events?class=outcomes&type=code.push_dropped");
  expect(events.text).toContain(id);
});

test("a push leaves nothing of an instance that is deleted", async () => {
  const { id, push, hook } = await following();
  await push("1.0");
  await me.until((await me.api.delete(`/instances/${id}`)).as(Operation).id);
  expect((await anonymous.post(hook, {})).status).toBe(202);
  await tick();
  const left = (await everyItem()).filter((item) => item.includes(id) && /"(?:PUSHES|DEPLOY_HOOK#)/.test(item));
  expect(left).toEqual([]);
});
