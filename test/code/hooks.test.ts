// POST /instances/:id/code/rotate-hook and POST /hooks/deploys/:secret
import { expect, test } from "vitest";
import * as z from "zod";
import { findHook } from "../../shared/records/deploy-hooks.ts";
import { account } from "../harness/account.ts";
import { anonymous } from "../harness/client.ts";
import { seedInstance } from "../harness/seed.ts";
import { everyItem } from "../harness/table.ts";
import { Hook, pushesOf } from "./pushes.ts";

const me = await account({ seeded: true });

const { hookOf, codeOf } = pushesOf(me);

test("a hook is shown once, works until it is made anew or removed, and only its hash is stored", async () => {
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
