// GET /operations/:id/log of an operation in progress, which is held between two of its jobs.
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Deploy } from "../../shared/api/deploys.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { holdWork } from "../harness/held-work.ts";

let cloud: TestCloud;
let me: TestAccount;
beforeAll(async () => {
  cloud = await processCloud();
  me = await account({ seeded: true });
});

const Log = z.object({ text: z.string(), next: z.string(), ended: z.boolean() });

test("the log of an operation in progress is read from a place on, and followed until there is more of it, or it ends", async () => {
  const { id: instance } = await me.instance();
  const repositories = [{ url: "https://git.example/acme", ref: "main" }];
  await me.api.put(`/instances/${instance}/code`, { repositories, install_modules: ["acme"] });
  const release = holdWork(cloud, "installPackages");
  const response = await me.api.post(`/instances/${instance}/deploys`, { rehearse: false, backup_first: false });
  const { operation_id: id } = response.as(Deploy);
  const read = async (query = "") => (await me.api.get(`/operations/${id}/log?${query}`)).as(Log);
  const seldom = { timeout: 120_000, interval: 7_000 }; // a log is read ten times a minute at most
  await expect.poll(async () => (await read()).text, seldom).toMatch(/# fetch_code\n.*\nDone\n$/);
  const log = await read();
  expect([log.ended, log.next]).toEqual([false, String(log.text.split("\n").length - 1)]);
  expect(log.text).toMatch(/^# resolve_code\nSimulated: resolve code\n/);
  expect(await read("after=1")).toEqual({ ...log, text: log.text.slice("# resolve_code\n".length) });
  // Nothing more comes as long as it is held.
  expect(await read(`after=${log.next}&follow=1`)).toEqual({ text: "", next: log.next, ended: false });
  const followed = read(`after=${log.next}&follow=20`);
  release();
  const more = await followed;
  expect(more.text).toMatch(/^# install_packages\n/);
  expect(Number(more.next)).toBeGreaterThan(Number(log.next));
  await me.until(id);
  const stored = await read();
  expect(stored.ended).toBe(true);
  expect(stored.text.startsWith(log.text + more.text.split("\n")[0])).toBe(true);
  expect(await read(`after=${more.next}&follow=20`)).toMatchObject({ next: stored.next, ended: true });
});
