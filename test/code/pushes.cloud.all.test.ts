// What the schedule makes of pushes: deploys, and reasons to deploy nothing; hooks that nobody has or that are called too often.
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Deploy } from "../../shared/api/deploys.ts";
import { Operation } from "../../shared/api/operations.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { PUSH } from "../../shared/domain/limits.ts";
import { minutesAgo, scheduleOf } from "../backup-policy/policies.ts";
import { account } from "../harness/account.ts";
import { anonymous } from "../harness/client.ts";
import { processCloud } from "../harness/cloud.ts";
import { seedInstance } from "../harness/seed.ts";
import { everyItem } from "../harness/table.ts";
import { pushesOf } from "./pushes.ts";

const cloud = await processCloud();
const { tick } = scheduleOf(cloud);
const me = await account({ seeded: true });

const { hookOf, following, codeOf, deploysOf } = pushesOf(me);

test("a push checks the code, and deploys what has changed, once", async () => {
  const { id, push } = await following();
  expect((await push("1.0")).status).toBe(202);
  await tick();
  expect((await codeOf(id)).repositories[0]?.newest_commit).not.toBeNull();
  await tick();
  const [deploy, ...others] = await deploysOf(id);
  expect(others).toEqual([]);
  expect(deploy).toMatchObject({
    status: "completed",
    trigger: "push",
    created_by: { type: "hook", name: "Deploy hook" },
    modules: { installed: ["acme"] },
  });
  await tick();
  await tick();
  expect(await deploysOf(id)).toHaveLength(1);

  await push("1.1");
  await push("1.2");
  await tick();
  await tick();
  await tick();
  const [second] = await deploysOf(id);
  expect(await deploysOf(id)).toHaveLength(2);
  const data = JSON.parse((await me.api.get(`/sandbox/instances/${id}/data`)).text) as unknown;
  expect(data).toMatchObject({ data: { modules: { acme: "1.2" } } });
  expect(second?.commits[0]?.previous_commit).toBe(deploy?.commits[0]?.commit);
});

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
  const instanceKey = keys.record("instance", me.id, id);
  await updateOne(instanceKey, { set: { operation_id: "op_none" } }, {});
  await tick();
  expect(await deploysOf(id)).toEqual([]);
  await updateOne(instanceKey, { set: { operation_id: null } }, {});
  await tick();
  expect(await deploysOf(id)).toHaveLength(1);

  await push("1.1");
  await tick();
  await updateOne(instanceKey, { set: { operation_id: "op_none" } }, {});
  await tick();
  await updateOne(keys.push(id), { set: { held_since: minutesAgo(PUSH.triedMinutes + 1) } }, {});
  await tick();
  await updateOne(instanceKey, { set: { operation_id: null } }, {});
  await tick();
  expect(await deploysOf(id)).toHaveLength(1);
  const events = await me.api.get("/events?class=outcomes&type=code.push_dropped");
  expect(events.text).toContain(id);
});

test("a push whose repository cannot be read is dropped with an event that says why, as the code does", async () => {
  const { id, push, hook } = await following();
  await push("1.0");
  for (let i = 0; i < 2; i++) await tick();
  expect(await deploysOf(id)).toHaveLength(1);
  const url = "https://git.elsewhere.example/acme";
  await me.api.put(`/instances/${id}/code`, { repositories: [{ url, ref: "main" }] });
  await anonymous.post(hook, {});
  for (let i = 0; i < 3; i++) await tick();
  expect(await deploysOf(id)).toHaveLength(1);
  const events = await me.api.get(`/events?class=outcomes&type=code.push_dropped&resource_id=${id}`);
  const reason = { code: "code_no_access", parameters: { url } };
  expect(JSON.parse(events.text).data[0].data.operation).toMatchObject({
    type: "instance.check_code",
    error: { code: "CODE_UNREACHABLE", reason },
  });
  const [repository] = (await codeOf(id)).repositories;
  expect(repository).toMatchObject({ newest_commit: null, checked_at: expect.any(String), problem: { reason } });
});

test("a push leaves nothing of an instance that is deleted", async () => {
  const { id, push, hook } = await following();
  await push("1.0");
  await me.until((await me.api.delete(`/instances/${id}`)).as(Operation).id);
  expect((await anonymous.post(hook, {})).status).toBe(202);
  await tick();
  const leftovers = (await everyItem()).filter((item) => item.includes(id) && /"(?:PUSHES|DEPLOY_HOOK#)/.test(item));
  expect(leftovers).toEqual([]);
});

describe("the hook", () => {
  test("says the same of a secret that there is not, whatever the body, and rejects only one that is too large", async () => {
    const unknown = "/hooks/deploys/AAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    for (const body of [undefined, "not JSON", { pusher: "x".repeat(100_000) }])
      expect((await anonymous.post(unknown, body)).as(z.unknown()), typeof body).toEqual({ accepted: true });
    const large = await anonymous.post(unknown, "x".repeat(PUSH.bodyBytes + 1));
    expect([large.status, large.error?.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });

  test("is limited for each instance", async () => {
    const hook = await hookOf((await seedInstance(me.id)).id);
    const responses = await Promise.all(Array.from({ length: PUSH.perMinute + 3 }, () => anonymous.post(hook, {})));
    const rejected = responses.filter(({ status }) => status === 429);
    expect(rejected.length).toBe(3);
    expect(rejected[0]?.error?.details).toEqual({ limit: PUSH.perMinute, window_seconds: 60, scope: "hook" });
    expect((await anonymous.post(await hookOf((await seedInstance(me.id)).id), {})).status).toBe(202);
  });
});
