// GET and PUT /settings
import { beforeEach, describe, expect, test } from "vitest";
import { Catalog } from "../../shared/api/catalog.ts";
import { Settings } from "../../shared/api/settings.ts";
import { account, newPublicKey, type TestAccount } from "../harness/account.ts";
import { seedInstance } from "../harness/seed.ts";

let me: TestAccount;
beforeEach(async () => {
  me = await account();
});

const shown = async () => (await me.api.get("/settings")).as(Settings);

test("a new account keeps safety backups for 14 days, and shows its quotas and their use", async () => {
  await seedInstance(me.id);
  await me.api.post("/ssh-keys", { name: "Laptop", public_key: newPublicKey() });
  expect(await shown()).toMatchObject({
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
  const before = await shown();
  const changes = { account_name: "Café Ltd", contact_email: "ops@example.com", backup_retention_days: 365 };
  let expected: Record<string, unknown> = before;
  for (const [name, value] of Object.entries(changes)) {
    const updated = (await me.api.put("/settings", { [name]: value })).as(Settings);
    expected = { ...expected, [name]: value, updated_at: updated.updated_at };
    expect(updated).toEqual(expected);
    expect(await shown()).toEqual(expected);
  }
  expect(String(expected["updated_at"]) > before.updated_at).toBe(true);
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
    expect(await shown()).toMatchObject(good);
  });
  test("the defaults and the contact address can be cleared", async () => {
    const none = { contact_email: null, default_provider: null, default_region: null };
    expect((await me.api.put("/settings", none)).as(Settings)).toMatchObject(none);
    expect(await shown()).toMatchObject(none);
  });
});
