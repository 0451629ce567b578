// GET and PUT /settings
import { beforeEach, describe, expect, test } from "vitest";
import { Catalog } from "../../shared/api/catalog.ts";
import { Settings } from "../../shared/api/settings.ts";
import * as tokens from "../../shared/api/tokens.ts";
import { Overtaken, startChange } from "../../shared/data/change.ts";
import { getAccount, requireTokenDays } from "../../shared/records/accounts.ts";
import { account, newPublicKey, type TestAccount, unique } from "../harness/account.ts";
import { seedInstance } from "../harness/seed.ts";

let me: TestAccount;
beforeEach(async () => {
  me = await account();
});

const showSettings = async () => (await me.api.get("/settings")).as(Settings);

test("a new account keeps safety backups for 14 days, and shows its quotas and their use", async () => {
  await seedInstance(me.id);
  await me.api.post("/ssh-keys", { name: "Laptop", public_key: newPublicKey() });
  expect(await showSettings()).toMatchObject({
    contact_email: null,
    default_provider: null,
    default_region: null,
    backup_retention_days: 14,
    quotas: {
      servers: { used: 1, limit: 10 },
      instances: { used: 1, limit: 100 },
      ssh_keys: { used: 1, limit: 100 },
      tokens: { used: 1 },
      users: { used: 1 },
      backups: { used: 0, limit: 10_000 },
      backup_bytes: { used: 0, limit: 2_000_000_000_000 },
      webhooks: { used: 0, limit: 20 },
    },
  });
});

test("every setting can be changed alone, and the others stay", async () => {
  const before = await showSettings();
  const changes = { account_name: "Café Ltd", contact_email: "ops@example.com", backup_retention_days: 365 };
  let expected: Record<string, unknown> = before;
  for (const [name, value] of Object.entries(changes)) {
    const updated = (await me.api.put("/settings", { [name]: value })).as(Settings);
    const unicode = name === "contact_email" && { contact_email_unicode: value };
    expected = { ...expected, [name]: value, ...unicode, updated_at: updated.updated_at };
    expect(updated).toEqual(expected);
    expect(await showSettings()).toEqual(expected);
  }
  expect(String(expected["updated_at"]) > before.updated_at).toBe(true);
});

describe("the longest life of tokens", () => {
  const DAY_MS = 86_400_000;
  const draft = (fields: object = {}) => ({ name: unique("pipeline"), permissions: ["servers:read"], ...fields });
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

  test("is set by owners in a session only", async () => {
    const admin = await me.session(await me.anotherUser({ role: "admin" }));
    for (const api of [me.api, admin])
      expect((await api.put("/settings", { token_max_days: 30 })).error).toEqual({
        code: "FORBIDDEN",
        message: "This action needs the role owner",
      });
    expect((await showSettings()).token_max_days).toBeNull();
    const owner = await me.session();
    for (const wrong of [0, 731, 1.5, "30"])
      expect((await owner.put("/settings", { token_max_days: wrong })).error).toMatchObject({
        details: { field: "token_max_days" },
      });
    expect((await owner.put("/settings", { token_max_days: 30 })).as(Settings).token_max_days).toBe(30);
    expect((await me.api.put("/settings", { account_name: "Still" })).as(Settings).token_max_days).toBe(30);
  });

  test("fills in when a token expires, and no new one lives longer; those of before stay, also rotated", async () => {
    const owner = await me.session();
    const create = async (fields: object = {}) => owner.post("/tokens", draft(fields));
    const before = (await create()).as(tokens.create().data);
    expect(before.expires_at).toBeNull();
    await owner.put("/settings", { token_max_days: 30 });
    const filled = (await create()).as(tokens.create().data);
    expect(Math.abs(Date.parse(filled.expires_at ?? "") - Date.now() - 30 * DAY_MS)).toBeLessThan(600_000);
    expect((await create({ expires_at: inDays(29) })).status).toBe(201);
    for (const expires_at of [null, inDays(31)])
      expect((await create({ expires_at })).error).toMatchObject({
        code: "VALIDATION_ERROR",
        details: { field: "expires_at", reason: "must be at most 30 days from now" },
      });
    expect((await owner.post(`/tokens/${before.id}/rotate`, {})).as(tokens.rotate().data).expires_at).toBeNull();
    await owner.put("/settings", { token_max_days: null });
    expect((await create()).as(tokens.create().data).expires_at).toBeNull();
  });

  test("that changes while a token is created makes that request read it again", async () => {
    const read = await getAccount(me.id);
    await (await me.session()).put("/settings", { token_max_days: 5 });
    const change = startChange(read);
    change.use("token", 1);
    requireTokenDays(change, read);
    await expect(change.commit()).rejects.toBeInstanceOf(Overtaken);
  });
});

test("updating the settings needs at least one field", async () => {
  expect((await me.api.put("/settings", {})).error).toMatchObject({
    code: "VALIDATION_ERROR",
    details: { field: "account_name" },
  });
});

describe("the defaults for new servers", () => {
  test("default provider and region must be in the catalog, and the region must be the provider's", async () => {
    const [provider] = (await me.api.get("/catalog")).as(Catalog).providers;
    const [region] = provider?.regions ?? [];
    const good = { default_provider: provider?.code, default_region: region?.code };
    expect((await me.api.put("/settings", good)).as(Settings)).toMatchObject(good);
    expect((await me.api.put("/settings", { default_region: region?.code })).status).toBe(200);
    for (const [name, value] of [
      ["default_provider", "no-such"],
      ["default_region", "no-such"],
    ] as const)
      expect((await me.api.put("/settings", { [name]: value })).error).toMatchObject({
        code: "VALIDATION_ERROR",
        details: { field: name },
      });
    const { error } = await me.api.put("/settings", { default_provider: "no-such", default_region: "no-such" });
    expect(error?.details?.["errors"]).toMatchObject([{ field: "default_provider" }, { field: "default_region" }]);
    expect(await showSettings()).toMatchObject(good);
  });
  test("the defaults and the contact address can be cleared", async () => {
    const none = { contact_email: null, default_provider: null, default_region: null };
    expect((await me.api.put("/settings", none)).as(Settings)).toMatchObject(none);
    expect(await showSettings()).toMatchObject(none);
  });
});
