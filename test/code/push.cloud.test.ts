// POST /instances/:id/code/rotate-hook and POST /hooks/deploys/:secret, and what the schedule makes of pushes
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { findHook } from "../../shared/records/deploy-hooks.ts";
import { scheduleOf } from "../backup-policy/policies.ts";
import { account } from "../harness/account.ts";
import { anonymous } from "../harness/client.ts";
import { processCloud } from "../harness/cloud.ts";
import { seedInstance } from "../harness/seed.ts";
import { everyItem } from "../harness/table.ts";
import { Hook, pushesOf } from "./pushes.ts";

const cloud = await processCloud();
const { tick } = scheduleOf(cloud);
const me = await account({ seeded: true });

const { hookOf, following, codeOf, deploysOf } = pushesOf(me);

describe("the hook", () => {
  test("is shown once, works until it is made anew or removed, and only its hash is stored", async () => {
    const { id } = await seedInstance(me.id);
    expect(await codeOf(id)).toMatchObject({ auto_deploy: "off", hook: null });
    const first = await hookOf(id);
    const secret = first.split("/").at(-1) ?? "";
    expect(Buffer.from(secret, "base64url").length * 8).toBeGreaterThanOrEqual(160);
    expect((await codeOf(id)).hook).toEqual({ last4: secret.slice(-4), last_used_at: null });
    expect((await everyItem()).filter((item) => item.includes(secret))).toEqual([]);

    const called = await anonymous.post(first, {});
    expect([called.status, called.as(z.unknown())]).toEqual([202, { accepted: true }]);
    expect((await codeOf(id)).hook?.last_used_at).not.toBeNull();

    const second = await hookOf(id);
    expect([await findHook(secret), (await findHook(second.split("/").at(-1) ?? ""))?.instance_id]).toEqual([undefined, id]);
    const removed = await me.api.post(`/instances/${id}/code/rotate-hook`, { enabled: false });
    expect(removed.as(Hook)).toEqual({ hook_url: null });
    expect([await findHook(second.split("/").at(-1) ?? ""), (await codeOf(id)).hook]).toEqual([undefined, null]);
  });
});

describe("a push", () => {
  test("checks the code, and deploys what has changed, once", async () => {
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
});
