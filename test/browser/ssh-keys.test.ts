// SSH keys in the dashboard: adding them, and deleting them.
import { expect } from "vitest";
import * as z from "zod";
import { SshKey } from "../../shared/api/ssh-keys.ts";
import { account, newPublicKey, type TestAccount } from "../harness/account.ts";
import { expectAccessible } from "./axe.ts";
import { test } from "./browser.ts";
import { button, choose } from "./instance-page.ts";

const keysOf = async (owner: TestAccount): Promise<SshKey[]> => (await owner.api.get("/ssh-keys")).as(z.array(SshKey));

const PRIVATE = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----";

test("an invalid public key shows the reason, and a private key is not even sent", async ({ open }) => {
  const owner = await account();
  const page = await open("/settings/ssh-keys", { as: owner });
  await page.getByText("No SSH keys yet.").waitFor();
  const sent: (string | null)[] = [];
  page.on("request", (request) => request.method() === "POST" && sent.push(request.postData()));
  await page.getByRole("button", { name: "Add SSH key" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Add SSH key" });
  await dialog.getByRole("button", { name: "Add SSH key" }).click();
  await expect.poll(() => dialog.getByText("This is required.", { exact: true }).count()).toBe(2);
  await dialog.getByLabel("Name").fill("Ops laptop");
  await dialog.getByLabel("Public key").fill(PRIVATE);
  await dialog.getByRole("button", { name: "Add SSH key" }).click();
  await dialog.getByText("Looks like a private key").waitFor();
  await expectAccessible(page);
  expect(sent).toEqual([]);
  await dialog.getByLabel("Public key").fill("ssh-dss AAAA");
  await dialog.getByRole("button", { name: "Add SSH key" }).click();
  await dialog
    .getByText("Must be an OpenSSH ed25519, ecdsa, sk-ed25519, sk-ecdsa or rsa key without options.", { exact: true })
    .waitFor();
  expect(await keysOf(owner)).toEqual([]);
});

test("an SSH key can be added, is shown with its fingerprint, and is deleted after confirmation", async ({ open }) => {
  const owner = await account();
  const page = await open("/settings/ssh-keys", { as: owner });
  await page.getByRole("button", { name: "Add SSH key" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Add SSH key" });
  await dialog.getByLabel("Name").fill("Ops laptop");
  await dialog.getByLabel("Public key").fill(`  ${newPublicKey("ops@example.com")}\n`);
  await dialog.getByRole("button", { name: "Add SSH key" }).click();
  await page.getByText("SSH key added: Ops laptop").first().waitFor();
  const row = page.getByRole("row").filter({ hasText: "Ops laptop" });
  const [added] = await keysOf(owner);
  await row.getByText(added?.fingerprint ?? "no key was added").waitFor();
  await choose(page, "Ops laptop", "Delete");
  const sure = page.getByRole("dialog", { name: "Delete SSH key" });
  await sure.getByText("Existing servers keep it").waitFor();
  await expectAccessible(page);
  await sure.getByRole("button", { name: "Cancel" }).click();
  await sure.waitFor({ state: "detached" });
  expect(await keysOf(owner)).toHaveLength(1);
  await choose(page, "Ops laptop", "Delete");
  await sure.getByRole("button", { name: "Delete key" }).click();
  await row.waitFor({ state: "detached" });
  expect(await keysOf(owner)).toEqual([]);
});

test("deleting an SSH key moves the focus to the next one", async ({ open }) => {
  const owner = await account();
  for (const name of ["Desktop", "Laptop", "Phone"]) await owner.api.post("/ssh-keys", { name, public_key: newPublicKey() });
  const page = await open("/settings/ssh-keys", { as: owner });
  await button(page, "Actions on Laptop").press("Enter");
  await page.getByRole("menuitem", { name: "Delete" }).press("Enter");
  await page.getByRole("dialog", { name: "Delete SSH key" }).getByRole("button", { name: "Delete key" }).press("Enter");
  await button(page, "Actions on Laptop").waitFor({ state: "detached" });
  await expect
    .poll(() => page.evaluate("document.activeElement.closest('tr')?.textContent ?? document.activeElement.outerHTML"))
    .toContain("Desktop");
});
