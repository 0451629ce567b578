// PUT /instances/:id: names and email addresses that are unusual, deceptive or invalid.
import { beforeAll, expect, test } from "vitest";
import * as instances from "../../shared/api/instances.ts";
import { Instance } from "../../shared/api/instances.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedInstance, seedServer } from "../harness/seed.ts";

let me: TestAccount;
let serverId: string;
beforeAll(async () => {
  me = await account({ seeded: true });
  serverId = (await seedServer(me.id)).id;
});

test.each([
  ["  Shop  ", "Shop"],
  ["\u00a0Shop\u3000", "Shop"],
  ["می\u200cخواهم", "می\u200cخواهم"],
  ["👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"],
  ["👧".repeat(64), "👧".repeat(64)],
  ["- ü ß 店 -", "- ü ß 店 -"],
  ["I \u2764\ufe0f you", "I \u2764\ufe0f you"],
  [`${" ".repeat(80)}Shop${" ".repeat(80)}`, "Shop"],
])("the name %j is stored as %j", async (name, storedName) => {
  const { id } = await seedInstance(me.id, { server_id: serverId });
  expect((await (await me.token()).api.put(`/instances/${id}`, { name })).as(Instance).name).toBe(storedName);
});

test("an email address is any that RFC 5321 allows, except quoted ones", async () => {
  const { id } = await seedInstance(me.id, { server_id: serverId });
  const { api } = await me.token();
  const put = (admin_email: string) => api.put(`/instances/${id}?dry_run=true`, { admin_email });
  for (const valid of [
    "admin@example.xn--p1ai",
    "sales&marketing@example.com",
    "o'neil/#1=!@shop.example",
    `${"a".repeat(64)}@x.org`,
  ])
    expect((await put(valid)).status, valid).toBe(200);
  const long = "a".repeat(64);
  for (const invalid of [
    "a@x-.com",
    "a@-x.com",
    `a@${long}.com`,
    `${long}a@x.org`,
    ".a@x.org",
    "a..b@x.org",
    "a.@x.org",
    "a@x",
    "a@1.2",
    '"a b"@x.org',
  ])
    expect((await put(invalid)).error, invalid).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "admin_email" } });
});

test("invisible and deceptive names are invalid, and rejected quickly", async () => {
  const { id } = await seedInstance(me.id, { server_id: serverId });
  const { api } = await me.token();
  for (const name of [
    " ",
    "\u200d",
    " \u200c\u200d ",
    "\u3164",
    "\u2800",
    "\ufe0f",
    "\u034f",
    "\u17b4",
    "\u{1d173}",
    "a\uffff",
    "a\nb",
    "a\u2028b",
    "a\u202eb",
    "a\u200bb",
    "a\u00adb",
    "\ufeffa",
    "a\ue000",
    "a\u{e0041}",
    "a\u{10ffff}",
    "a\udfff",
    "👧".repeat(65),
    `${" ".repeat(60_000)}\n`,
    `${"a".repeat(60_000)}\n`,
  ]) {
    const response = await api.put(`/instances/${id}`, { name });
    expect(response.error, JSON.stringify(name.slice(0, 20))).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field: "name" },
    });
  }
  const used = process.cpuUsage();
  for (let i = 0; i < 10; i++)
    for (const name of [`${" ".repeat(60_000)}\n`, `${"a".repeat(60_000)}\n`])
      expect(instances.update().body.safeParse({ name }).success).toBe(false);
  expect(process.cpuUsage(used).user / 1000, "milliseconds of CPU").toBeLessThan(2_000);
});
