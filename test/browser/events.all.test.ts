// The activity of an account: who did what, to what, from where.
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import * as z from "zod";
import { Event } from "../../shared/api/events.ts";
import type { AuditType } from "../../shared/domain/event-types.ts";
import { getAccount } from "../../shared/records/accounts.ts";
import { logEvent, logOutcome } from "../../shared/records/events.ts";
import { startChange } from "../../shared/data/change.ts";
import { newId } from "../../shared/domain/ids.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, newPublicKey } from "../harness/account.ts";
import { seedBackup, seedInstance } from "../harness/seed.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";

test("the activity list says who did what to which resource, from which address and in which request", async ({ open }) => {
  const owner = await account();
  const server = await owner.server({ name: "erp-1" });
  const page = await open("/activity", { as: owner });
  const row = page.getByRole("row").filter({ hasText: "Started server creation" });
  await row.getByText("Succeeded", { exact: true }).waitFor();
  await row.getByText(/^API key from 127\.0\.0\.1$/).waitFor();
  const [event] = (await owner.api.get("/events")).as(z.array(Event)).filter(({ type }) => type === "server.create");
  await row.getByText(event?.actor.name ?? "nobody").waitFor();
  await row.getByTitle(event?.request_id ?? "no request").waitFor();
  await row.getByRole("button", { name: /^Copy request ID/ }).waitFor();
  await page
    .getByRole("row")
    .filter({ hasText: "Signed in" })
    .getByText(/^Owner from/)
    .first()
    .waitFor();
  await page.getByRole("row").filter({ hasText: "Created account" }).getByText("Service operator").waitFor();
  await expectAccessible(page);
  await row.getByRole("link", { name: "erp-1" }).click();
  await page.getByRole("heading", { level: 1, name: "erp-1" }).first().waitFor();
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/servers/${server.id}`);
});

test("a long activity list has pages, in a URL that can be shared", async ({ open }) => {
  const owner = await account();
  const { api } = await owner.token();
  for (let number = 0; number < 13; number++) {
    const key = (await api.post("/ssh-keys", { name: `Key ${number}`, public_key: newPublicKey() })).as(
      z.object({ id: z.string() }),
    );
    await owner.api.delete(`/ssh-keys/${key.id}`);
  }
  const [, deletion] = (await owner.api.get("/events")).as(z.array(Event));
  const page = await open("/activity", { as: owner });
  const deleted = page.getByRole("row").filter({ hasText: "Key 12" }).first();
  await deleted.waitFor();
  expect(await deleted.getByText("(deleted)").count()).toBe(0); // the action says so
  expect(await deleted.getByRole("link").count()).toBe(0);
  await page.getByRole("button", { name: /^Page 2/ }).click();
  await page.getByRole("row").filter({ hasText: "Created account" }).waitFor();
  await page.getByRole("row").filter({ hasText: "Key 12" }).first().waitFor({ state: "detached" });
  await expect.poll(() => new URL(page.url()).search).toBe("?page=2");
  await page.getByRole("button", { name: /^Filter by action/ }).click();
  await page.getByRole("option", { name: "Deleted SSH key" }).click();
  await page.getByRole("heading", { name: "Activity (13)" }).waitFor();
  await page.getByRole("button", { name: "Only about Key 7" }).click();
  await page.getByRole("heading", { name: "Activity (1)" }).waitFor();
  await page.getByRole("button", { name: "One resource only" }).click();
  await page.getByRole("heading", { name: "Activity (13)" }).waitFor();
  const day = deletion?.created_at.slice(0, 10) ?? "";
  await page.getByLabel("Filter by day").fill("2026-01-01");
  await page.getByText("No matches for this filter.").waitFor();
  await page.getByLabel("Filter by day").fill(day);
  await page.getByRole("heading", { name: "Activity (13)" }).waitFor();
  await page.getByRole("button", { name: /^Filter by person/ }).click();
  await page.getByRole("option", { name: owner.user.name }).click();
  await page.getByText("No matches for this filter.").waitFor();
  await expectAccessible(page);
});

test("the activity is filtered by people who have done nothing yet, and by a resource that one finds by its name", async ({
  open,
}) => {
  const owner = await account({ seeded: true });
  const calm = await owner.anotherUser();
  const shop = await seedInstance(owner.id, { name: "Shop" });
  await owner.api.put(`/instances/${shop.id}`, { labels: { env: "prod" } });
  const page = await open("/activity", { as: owner });
  await page.getByRole("button", { name: /^Filter by resource/ }).click();
  await page.getByPlaceholder("Find resource").fill("sho");
  await page.getByRole("option", { name: /^Shop/ }).click();
  await expect.poll(() => new URL(page.url()).search).toBe(`?resource=${shop.id}`);
  await page.getByRole("heading", { name: "Activity (1)" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: /^Filter by person/ }).click();
  await page.getByRole("option", { name: calm.name }).click();
  await page.getByText("No matches for this filter.").waitFor();
  await page.reload();
  await page.getByRole("button", { name: `Filter by person ${calm.name}` }).waitFor();
});

test("the activity shows what a change changed, before and after, in the user's language", async ({ open }) => {
  const owner = await account({ seeded: true });
  const shop = await seedInstance(owner.id, { name: "Shop", labels: { env: "test" } });
  const { id } = shop;
  const change = { name: "Shop 2", labels: { env: "prod" } };
  expect((await owner.api.put(`/instances/${id}`, change)).status).toBe(200);
  const backup = await seedBackup(shop);
  await owner.api.put(`/backups/${backup.id}`, { locked: true });
  await setQuota(owner.id, "backup_bytes", 3_000_000_000_000);
  const policy = { schedule: "0 2 * * *", timezone: "Europe/Berlin", keep: { daily: 7 } };
  await owner.api.put(`/instances/${id}/backup-policy`, policy);
  await owner.api.put(`/instances/${id}/backup-policy`, { ...policy, keep: { daily: 14, weekly: 4 } });
  const page = await open("/activity", { as: owner });
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  await row("Shop 2").getByText("Name: Shop → Shop 2", { exact: true }).waitFor();
  await row("Shop 2").getByText("Labels: env: test → env: prod", { exact: true }).waitFor();
  await page.getByText("Locked: No → Yes", { exact: true }).waitFor();
  await page.getByText("Backup storage quota: 2.00 TB → 3.00 TB", { exact: true }).waitFor();
  await page.getByText(/^Keep: daily: 7 → .*daily: 14/).waitFor();
  const german = await open("/activity", { as: owner, locale: "de" });
  await german.getByText(/^Speicher-Kontingent der Sicherungen: /).waitFor();
  await german.getByRole("row").filter({ hasText: "Konto angelegt" }).getByText("Betreiber", { exact: true }).first().waitFor();
  await german.getByText(/^Aufbewahren: täglich: 7 → .*wöchentlich: 4/).waitFor();
});

test("codes and times in changes are words, and users and webhooks have their pages", async ({ open }) => {
  const owner = await account({ seeded: true });
  await owner.webhook();
  const other = await owner.anotherUser({ role: "viewer" });
  const change = startChange(await getAccount(owner.id));
  const by = { operator: "Service operator", requestId: "request" };
  const about = { type: "instance", id: newId("instance"), name: "Shop" } as const;
  type Logged = Parameters<typeof logEvent>;
  const log = (type: AuditType, resource: Logged[3], field: string, before: unknown, after: unknown) =>
    logEvent(change, by, { type, changes: [{ field, before, after }] }, resource);
  log("user.role_changed", { type: "user", id: other.id, name: "Vera" }, "role", "viewer", "operator");
  log("user.update", { type: "user", id: owner.user.id, name: "Mia" }, "notifications", "none", "all");
  log("sso.update", { type: "account", id: owner.id, name: "All" }, "roles", { staff: "viewer" }, { staff: "admin" });
  log("settings.update", { type: "account", id: owner.id, name: "All" }, "require_second_factor", "none", "all");
  log("code.update", about, "auto_deploy", "off", "push");
  log("instance.update", about, "health", { status: "failing" }, { status: "ok" });
  log("alert.update", about, "muted_until", null, "2026-11-20T12:00:00.000Z");
  await change.commit();
  const page = await open("/activity", { as: owner });
  for (const words of [
    "Role: Viewer → Operator",
    "Mails: Nothing → Alerts and failures",
    "Roles by claim: staff: Viewer → staff: Admin",
    "Who needs a second factor: Nobody → Everybody",
    "Automatic deploys: No → After a push",
    "Health: Not working → Responding",
  ])
    await page.getByText(words, { exact: true }).waitFor();
  await page.getByText(/^Muted until: – → 20 Nov 2026, 12:00:00/).waitFor();
  const pageOf = (name: string) => page.getByRole("row").getByRole("link", { name, exact: true }).first().getAttribute("href");
  expect(await pageOf("Vera")).toBe("/settings/people");
  expect(await pageOf("Mia")).toBe("/settings/account");
  await page.locator('#main a[href="/settings/webhooks"]').first().waitFor();
});

test("all entries of some days are saved as JSON lines or as CSV, however many pages they are", async ({ open }) => {
  const owner = await account({ seeded: true });
  for (let n = 0; n < 120; n += 20) {
    const change = startChange(await getAccount(owner.id));
    const by = { operator: "Service operator", requestId: "many" };
    for (let at = n; at < n + 20; at++)
      logEvent(change, by, "ssh_key.create", { type: "ssh_key", id: newId("ssh_key"), name: `=Key ${at}` });
    await change.commit();
  }
  const later = startChange(await getAccount(owner.id));
  const server = { type: "server", id: newId("server"), name: "erp-1" } as const;
  logOutcome(later, { operator: "Service operator", requestId: "later" }, { type: "server.offline" }, server);
  await later.commit();
  const page = await open("/activity", { as: owner });
  const save = async (format: string, kind = "Requests and outcomes"): Promise<string> => {
    await page.getByRole("button", { name: "Export days" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Export days" });
    await dialog.getByLabel("First day").fill("2026-01-01");
    await dialog.getByText(kind).click();
    await dialog.getByText(format).click();
    await expectAccessible(page);
    const download = page.waitForEvent("download");
    await dialog.getByRole("button", { name: "Save file" }).click();
    const saved = await download;
    await dialog.waitFor({ state: "detached" });
    return text(await saved.createReadStream());
  };
  const lines = (await save("JSON lines, for programs")).trimEnd().split("\n");
  const all = lines.map((line) => Event.parse(JSON.parse(line)));
  const seededEvents = all.filter(({ request_id }) => request_id === "many");
  expect(new Set(seededEvents.map(({ resource }) => resource.name)).size).toBe(120);
  expect(all.map(({ type }) => type)).toContain("server.offline");
  const times = all.map(({ created_at }) => created_at);
  expect(times, "both lists as one").toEqual(times.toSorted().toReversed());
  expect(await save("JSON lines, for programs", "Requests only")).not.toContain("server.offline");
  const csv = await save("CSV, for spreadsheets");
  expect(csv.split("\r\n").filter((line) => line.includes("'=Key "))).toHaveLength(120);
  await page.getByRole("button", { name: "Export days" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Export days" });
  await dialog.getByLabel("Last day").fill("2025-12-31");
  await expect.poll(() => dialog.getByRole("button", { name: "Save file" }).isDisabled()).toBe(true);
});
