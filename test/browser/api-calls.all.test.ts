// Every change that the dashboard makes shows its API call: for the shell and for the typed client, or that only the dashboard
// can make it.
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { routes } from "../../shared/api/index.ts";
import { Operation } from "../../shared/api/operations.ts";
import { account, unusedId } from "../harness/account.ts";
import { seedAlert, seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { moveTo, test } from "./browser.ts";
import { button, callsOf, dialog, openTab, title } from "./instance-page.ts";

/** No user asks for these: an upload sends its parts, and completes itself. */
const BY_ITSELF = ["uploads.parts", "uploads.complete"];
const CHANGES = routes.filter(({ method, only, id }) => method !== "GET" && only === undefined && !BY_ITSELF.includes(id));

/** What the typed client calls, as it is shown. */
async function callIn(container: Page | Locator): Promise<string> {
  const { curl, typescript } = await callsOf(container);
  expect(curl).toMatch(/^curl -X (POST|PUT|DELETE) '.*\\\n {2}-H "Authorization: Bearer \$TOKEN"/);
  return /^await client\.(\w+\.\w+)\(/.exec(typescript)?.[1] ?? typescript;
}

test("every change shows its API call", async ({ open }) => {
  const owner = await account({ seeded: true });
  const server = await seedServer(owner.id, { name: "erp-1" });
  const unused = await seedServer(owner.id, { name: "erp-2" });
  const instance = await seedInstance(owner.id, { server_id: server.id, name: "Shop" });
  await seedBackup(instance);
  const later = new Date(Date.now() + 86_400_000).toISOString();
  const broken = { kind: "uploaded", instance_id: null, state: "failed", status_reason: "The server's disk is full" } as const;
  const failed = await seedBackup(await seedInstance(owner.id, { server_id: server.id }), { ...broken, expires_at: later });
  await owner.sshKey();
  await seedAlert(server);
  await owner.api.put(`/instances/${instance.id}/backup-policy`, { schedule: "0 2 * * *", keep: { last: 1 } });
  const repositories = [{ url: "https://git.example/acme", ref: "main" }];
  await owner.api.put(`/instances/${instance.id}/code`, { repositories });
  const page = await open("/config.json", { as: owner, fresh: true });
  const upload = `upl_${"0".repeat(26)}`;
  const unfinished = { id: upload, user_id: owner.user.id, name: "old.zip", size_bytes: 1, modified: 1, expires_at: later };
  await page.evaluate(`localStorage.setItem("uploads", ${JSON.stringify(JSON.stringify([unfinished]))})`);
  await page.goto("/");

  const calls: string[] = [];
  const anyDialog = page.getByRole("dialog");
  const close = async (): Promise<void> => {
    await page.keyboard.press("Escape");
    await anyDialog.waitFor({ state: "detached" });
  };
  const dialogBehind = async (...openers: Locator[]): Promise<void> => {
    for (const opener of openers) await opener.click();
    calls.push(await callIn(anyDialog));
    await close();
  };
  const [more, row] = [button(page, "Actions"), button(page, /^Actions on the backup/)];
  const item = (name: string): Locator => page.getByRole("menuitem", { name, exact: true });

  /** Actions without a dialog of their own have their call in a menu. */
  const callBehind = async (menu: Locator, name: string): Promise<void> => {
    await menu.click();
    await item(name).click();
    const line = (await anyDialog.getByRole("region", { name: "TypeScript call" }).textContent()) ?? "";
    calls.push(/^await client\.(\w+\.\w+)\(/.exec(line)?.[1] ?? line);
    await close();
  };

  const forms: [path: string, name: RegExp][] = [
    ["/servers/create", /server/i],
    ["/instances/create", /^Create instance/],
    [`/instances/${instance.id}/clone`, /^Clone Shop/],
    ["/settings/webhooks/create", /^Create webhook/],
    ["/backups/upload", /^Upload backup/],
  ];
  for (const [path, name] of forms) {
    await moveTo(page, path);
    await title(page, name); // or the button of the page before is clicked
    calls.push(await callIn(page));
  }
  await dialogBehind(button(page, "Abort upload"));
  await moveTo(page, `/backups?backup=${failed.id}`);
  await button(page, "Try again").click();
  const again = dialog(page, "Try the import again"); // above the backup's details
  calls.push(await callIn(again));
  for (const each of [again, anyDialog]) {
    await page.keyboard.press("Escape");
    await each.waitFor({ state: "detached" });
  }
  await moveTo(page, `/servers/${unused.id}`);
  for (const name of ["Reboot", "Update", "Edit", "Delete"]) await dialogBehind(button(page, name));

  await moveTo(page, `/instances/${instance.id}`);
  for (const name of ["Stop", "Restart", "Back up now", "Edit policy", "Delete policy"]) await dialogBehind(button(page, name));
  for (const name of ["Edit details", "Change domain", "Delete"]) await dialogBehind(more, item(name));
  await openTab(page, "Code");
  for (const name of ["Edit code", "Deploy…", "Create hook"]) await dialogBehind(button(page, name));
  calls.push(await callIn(page.locator("#main"))); // that of the check
  await openTab(page, "Backups");
  for (const name of ["Restore", "Run drill", "Edit details", "Delete"]) await dialogBehind(row, item(name));
  await callBehind(more, "Show API call to start");
  await callBehind(row, "Show API call to download");

  await moveTo(page, `/settings/webhooks/${await owner.webhook()}`);
  await dialogBehind(button(page, "Edit"));
  await dialogBehind(button(page, "Delete"));
  for (const action of ["test", "rotate the secret", "redeliver a delivery", "redeliver what failed"])
    await callBehind(button(page, "API calls"), `Show API call to ${action}`);

  await moveTo(page, "/instances");
  await page.getByRole("checkbox", { name: "Select all instances on this page" }).click();
  await dialogBehind(button(page, "Actions on selected"), item("Back up"));
  const heldInstance = await seedInstance(owner.id, { server_id: server.id, operation_id: unusedId("operation") });
  const { id: bulk } = (await owner.api.post("/bulk", { action: "stop", select: { ids: [heldInstance.id] } })).as(Operation);
  await moveTo(page, `/operations/${bulk}`);
  await title(page, "Stop instances");
  calls.push(await callIn(page.locator("#main")));
  await owner.api.post(`/operations/${bulk}/actions`, { action: "cancel" });

  await moveTo(page, "/alerts");
  await dialogBehind(button(page, /^Actions on/).first(), item("Mute"));
  await moveTo(page, "/settings/alerts");
  await title(page, "Alert settings");
  calls.push(await callIn(page.locator("#main")));
  await moveTo(page, "/settings/ssh-keys");
  await dialogBehind(button(page, "Add SSH key").first());
  await dialogBehind(button(page, /^Actions on/).first(), item("Delete"));
  await moveTo(page, "/settings/account");
  await page.getByRole("heading", { level: 1, name: "Account" }).waitFor();
  const inPage = page.locator("form");
  calls.push(await callIn(inPage.filter({ has: page.getByLabel("Account name") })));
  await dialogBehind(button(page, "Set default policy"));
  const forKeys = CHANGES.filter(({ access }) => access !== "session" && access !== "public").map(({ id }) => id);
  expect([...new Set(calls)].toSorted()).toEqual([...forKeys, "backups.download"].toSorted());

  const onlyHere = page.getByText("Only the dashboard can do this.");
  await inPage
    .filter({ has: page.getByLabel("Current password") })
    .getByRole("button", { name: "Show API call" })
    .click();
  await onlyHere.waitFor();
  await moveTo(page, "/settings/api-keys/create");
  await onlyHere.waitFor({ state: "detached" });
  await button(page, "Show API call").click();
  await onlyHere.waitFor();
  await moveTo(page, "/settings/api-keys");
  await button(page, /^Actions on/)
    .first()
    .click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  await button(anyDialog, "Show API call").click();
  await onlyHere.waitFor();
});
