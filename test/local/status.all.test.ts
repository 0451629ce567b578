// `npm run admin -- status`: what the operator sees of accounts, of what is overdue or waits, of webhooks that fail, and of
// costs.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { writeAccess } from "../../infra/local/access.ts";
import { costsOfMonth, PRICES } from "../../infra/costs.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { ownCloud } from "../harness/cloud.ts";
import { factsOf, type TestCloud } from "../harness/facts.ts";
import { holdForGood } from "../harness/held-work.ts";

const folder = mkdtempSync(join(tmpdir(), "status-"));
afterAll(() => rmSync(folder, { recursive: true }));
const status = async (...args: string[]): Promise<string> => {
  const command = [resolve("infra/admin.ts"), "status", "--data", folder, ...args];
  return (await promisify(execFile)(process.execPath, command, { env: { PATH: process.env["PATH"] } })).stdout;
};
const Status = z.object({
  environment: z.string(),
  accounts: z.array(
    z.looseObject({
      id: z.string(),
      servers: z.record(z.string(), z.number()),
      instances: z.record(z.string(), z.number()),
      backups: z.number(),
      operations_in_progress: z.number(),
      webhooks: z.array(z.looseObject({ id: z.string(), status: z.string() })),
    }),
  ),
  overdue: z.looseObject({ instances: z.number(), backups: z.number(), operations: z.array(z.looseObject({ id: z.string() })) }),
  queues: z.object({ operations: z.number(), outbox: z.number(), outbox_seconds: z.number(), deliveries: z.number() }),
  costs_this_month: z.record(z.string(), z.number()),
});
const read = async (...args: string[]) => Status.parse(JSON.parse(await status("--json", ...args)));

let cloud: TestCloud;
let me: TestAccount;
beforeAll(async () => {
  cloud = await ownCloud(); // no schedule runs, and nothing is delivered
  writeAccess(folder, factsOf(cloud).environment);
  me = await account({ seeded: true });
});

test("accounts, with what they have and have in progress", async () => {
  const { id } = await me.instance();
  await me.backup(id);
  holdForGood(cloud);
  const other = await account();
  await other.api.post("/servers", await other.serverBody());
  const { accounts, queues } = await read();
  expect(accounts.find((each) => each.id === me.id)).toMatchObject({
    servers: { active: 1, provisioning: 0, offline: 0 },
    instances: { running: 1 },
    backups: 1,
    operations_in_progress: 0,
  });
  expect(accounts.find((each) => each.id === other.id)).toMatchObject({
    servers: { provisioning: 1 },
    operations_in_progress: 1,
  });
  expect(queues.operations).toBe(1);
  expect(await status()).toMatch(new RegExp(`${other.id} .*servers 1 \\(1 provisioning\\); instances 0; .* in progress 1`));
});

test("an operation that has been in progress for a day", async () => {
  const late = { account_id: me.id, operation_id: "op_0000000000000000000000late", created_at: "2026-01-01T00:00:00.000Z" };
  await updateOne(keys.openOperation(late.operation_id), { set: late }, { exists: false });
  expect((await read()).overdue.operations).toEqual([{ id: late.operation_id, account_id: me.id, created_at: late.created_at }]);
  expect(await status()).toMatch(/operations in progress for a day +1\n +op_0000000000000000000000late of acc_/);
});

test("events that wait to be delivered, and webhooks that fail", async () => {
  const before = (await read()).queues.outbox;
  const url = "https://fail-410.example/";
  const { id } = (await me.api.post("/webhooks", { name: "Gone", url, events: ["settings.update"] })).as(
    z.object({ id: z.string() }),
  );
  await me.api.put("/settings", { backup_retention_days: 9 });
  expect((await read()).queues.outbox).toBe(before + 2);
  await cloud.events.fire("dispatch");
  // That the webhook was disabled.
  await expect.poll(async () => (await read()).queues).toMatchObject({ outbox: 1, deliveries: 0 });
  expect((await read()).accounts.find((each) => each.id === me.id)?.webhooks).toMatchObject([
    { id, status: "disabled", failed: 1 },
  ]);
  expect(await status()).toContain(`${id} of ${me.id}  Gone: disabled`);
});

test("costs follow the prices of the docs, with requests only if their number is given", async () => {
  const [deploy, scale] = ["deploy", "scale"].map((page) => readFileSync(resolve(`docs/${page}.md`), "utf8"));
  for (const words of [
    `about ${PRICES.idleMonth.test.toFixed(2)} a month for \`test\`, ${PRICES.idleMonth.live.toFixed(2)} for \`live\``,
    `A million requests: about ${PRICES.millionRequests.toFixed(2)}`,
    `${PRICES.gigabyteMonth} per GB and month`,
    `an hour 76 (${PRICES.operation})`,
    "14 to 34 a million", // around that of PRICES.millionChanges
  ])
    expect(deploy).toContain(words);
  expect(scale).toMatch(new RegExp(`\\| 1,000 +\\| 900 and 100 +\\| 43 million +\\| ${PRICES.thousandServers} `));

  const use = { servers: 100, archive_bytes: 2e12, operations: 1_000, changes: 1e6, requests: 3e6 };
  const costs = costsOfMonth("live", use, new Date("2026-06-16T00:00:00Z"));
  const parts = { idle: 4.3, checks: 1.65, archives: 25, operations: 2, changes: 23, requests: 22.8 };
  for (const [name, price] of Object.entries(parts))
    expect([name, Reflect.get(costs, name)]).toEqual([name, expect.closeTo(price, 6)]);
  expect(costs.total).toBeCloseTo(78.75, 6);

  expect(await status()).toContain("without requests, 7.60 a million");
  const { costs_this_month } = await read("--requests", "2000000");
  expect(costs_this_month["requests"]).toBeCloseTo(15.2, 6);
});
