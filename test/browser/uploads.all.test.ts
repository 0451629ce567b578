// Uploading a backup: in parts, straight to the storage, paused and continued, until an instance begins with it.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import type { Page } from "playwright-core";
import { afterAll, expect } from "vitest";
import * as z from "zod";
import { Backup } from "../../shared/api/backups.ts";
import { Upload } from "../../shared/api/uploads.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { apiUrl } from "../harness/cloud.ts";
import { downloaded, sha256Of } from "../harness/upload.ts";
import { expectAccessible } from "./axe.ts";
import { type Faults, test } from "./browser.ts";
import { button, dialog, fact, getInstance, notification, pathOf, sentTo, title } from "./instance-page.ts";

const folder = mkdtempSync(join(tmpdir(), "uploads-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The smallest part that S3 joins. The service's own parts are as large as an archive of a sandbox can be. */
const PART_BYTES = 5 * 1024 * 1024;
const PADDING_BYTES = 2.7 * 1024 * 1024;

/** A sandbox's archive of two small parts: nobody reads what pads its manifest, which is twice as long in hexadecimal. */
async function paddedArchive(owner: TestAccount, instanceId: string): Promise<Uint8Array> {
  const entries = unzipSync(await downloaded(owner.api, (await owner.backup(instanceId)).id));
  const manifest = z.looseObject({}).parse(JSON.parse(strFromU8(entries["manifest.json"] ?? new Uint8Array())));
  const padded = strToU8(JSON.stringify({ ...manifest, padding: randomBytes(PADDING_BYTES).toString("hex") }));
  return zipSync({ ...entries, "manifest.json": padded }, { level: 0 });
}

function fileOf(name: string, bytes: Uint8Array): string {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
}

/** Uploads that the account begins from now on have small parts. */
const cutSmaller = (page: Page, owner: TestAccount): Promise<unknown> =>
  page.route(/\/backups\/uploads$/, async (route) => {
    const response = await route.fetch();
    const { data } = z.object({ data: Upload }).parse(await response.json());
    await updateOne(keys.upload(owner.id, data.id), { set: { part_size: PART_BYTES } }, {});
    await route.fulfill({ response, json: { success: true, data: { ...data, part_size: PART_BYTES } } });
  });

const PART = /[?&]partNumber=(\d+)/;
/** The numbers of the parts that are sent from now on. */
function partsSent(page: Page): number[] {
  const sent: number[] = [];
  page.on("request", (request) => {
    const [, number] = PART.exec(request.url()) ?? [];
    if (request.method() === "PUT" && number !== undefined) sent.push(Number(number));
  });
  return sent;
}

const expectStorage = (faults: Faults): void =>
  void faults.expected.push(/^asks http:\/\/127\.0\.0\.1:\d+\/[^/]+\/.*partNumber=/); // the storage is another origin

const choose = async (page: Page, path: string): Promise<void> => page.locator('input[type="file"]').setInputFiles(path);

test("a file of the dashboard that does not load is a network error of the upload, too, and is fetched again", async ({
  open,
  faults,
}) => {
  expectStorage(faults);
  faults.expected.push(/Failed to load resource/);
  const owner = await account({ seeded: true });
  await owner.server();
  const page = await open("/backups/upload", { as: owner, fresh: true });
  await title(page, "Upload backup");
  let failures = 0;
  await page.route("**/assets/hash-worker-*.js", (route) => (failures++ === 0 ? route.abort() : route.continue()));
  await choose(page, fileOf("photos.zip", randomBytes(1000)));
  await button(page, "Upload").click();
  const wrong = page.getByText("The browser can't read the file");
  await page.getByText("it is not a zip file").or(wrong).first().waitFor();
  expect([failures, await wrong.count()]).toEqual([2, 0]);
});

test("an upload goes on after a part failed, a pause and a reload, without sending a part twice, and becomes a running instance", async ({
  open,
  faults,
}) => {
  expectStorage(faults);
  faults.expected.push(/responded with a status of 500/);
  const owner = await account({ seeded: true });
  const source = await owner.instance({ name: "Shop" });
  await owner.api.put(`/sandbox/instances/${source.id}/data`, { orders: 3 });
  const archive = await paddedArchive(owner, source.id);
  const file = fileOf("shop.zip", archive);
  const page = await open("/backups", { as: owner });
  await cutSmaller(page, owner);
  const first = partsSent(page);
  await page.route(/[?&]partNumber=2/, () => undefined); // on its way until it is aborted
  await page.route(/[?&]partNumber=2/, (route) => route.fulfill({ status: 500 }), { times: 1 });
  await page.getByRole("link", { name: "Upload backup" }).click();
  await title(page, "Upload backup");
  await button(page, "Upload").click();
  await page.getByText("This is required.", { exact: true }).waitFor();
  await expectAccessible(page);
  await choose(page, file);
  await page.getByText(/^shop\.zip, 5\.\d\d MB$/).waitFor();
  await page.getByLabel("Note").fill("From our old server");
  await button(page, "Upload").click();
  await page.getByText(/^5\.24 MB of 5\.\d\d MB/).waitFor();
  await expectAccessible(page);
  await expect.poll(() => first.toSorted((a, b) => a - b)).toEqual([1, 2, 2]); // the one that failed, and its retry
  await button(page, "Pause").click();
  await page.getByText("Paused: shop.zip").first().waitFor();
  await button(page, "Resume").click();
  await expect.poll(() => first.toSorted((a, b) => a - b)).toEqual([1, 2, 2, 2]);

  await page.getByRole("link", { name: "Instances" }).first().click();
  await dialog(page, "Leave this page?").getByRole("button", { name: "Stay" }).click();
  await expect.poll(() => pathOf(page)).toBe("/backups/upload");
  const question = page.waitForEvent("dialog").then(async (prompt) => {
    await prompt.accept();
    return prompt.type();
  });
  await page.reload();
  expect(await question).toBe("beforeunload");

  await page.unrouteAll(); // Playwright would respond to the storage's preflight itself
  const sent = partsSent(page);
  await page.getByText(/^Unfinished upload: shop\.zip/).waitFor();
  await choose(page, file);
  const arrived = page.waitForResponse((response) => PART.test(response.url()) && response.request().method() === "PUT");
  await button(page, "Continue upload").click();
  const response = await arrived;
  expect(new URL(response.url()).origin).not.toBe(apiUrl());
  expect([response.status(), response.headers()["access-control-allow-origin"]]).toEqual([200, apiUrl()]);
  const details = dialog(page, /^shop\.zip, /);
  await details.getByText(sha256Of(archive)).waitFor();
  expect(sent).toEqual([2]);
  const [backup] = (await owner.api.get("/backups?status=completed&sort=created_at")).as(z.array(Backup));
  expect(backup).toMatchObject({ kind: "uploaded", note: "From our old server", sha256: sha256Of(archive) });

  await button(details, "Create an instance").click();
  await title(page, "Create instance");
  await page.getByText("Starts with the uploaded backup shop.zip").waitFor();
  const created = sentTo(page, "POST", /\/instances$/);
  await page.getByLabel("Name", { exact: true }).fill("Moved in");
  await page.getByLabel("Domain").fill(uniqueDomain());
  await page.getByText("stop the original first").first().waitFor();
  const readText = () => page.locator("#main").innerText();
  expect(await readText()).not.toMatch(/clone/i); // there is nothing here that it would be a clone of
  await page.getByRole("checkbox", { name: /Neutralize/ }).check();
  await page.getByLabel("Admin password").fill("correct-horse-battery");
  const createdNotification = notification(page, "Instance created from backup: Moved in");
  await button(page, "Create instance").click();
  await title(page, "Moved in");
  await fact(page, "Status", "Running");
  await createdNotification;
  await fact(page, "Created from", "Uploaded backup");
  expect(await readText()).not.toMatch(/clone/i);
  expect(created).toMatchObject([{ backup_id: backup?.id, neutralize: true, admin_password: "correct-horse-battery" }]);
  const id = pathOf(page).split("/").at(-1) ?? "";
  expect(await getInstance(owner, id)).toMatchObject({ neutralized: true, cloned_from_backup_id: backup?.id });
  expect((await owner.api.get(`/sandbox/instances/${id}/data`)).as(z.unknown())).toEqual({ orders: 3 });
});

test("a file that is no backup fails its import with the reason, and an upload can be aborted", async ({ open, faults }) => {
  expectStorage(faults);
  const owner = await account({ seeded: true });
  await owner.server();
  const page = await open("/backups/upload", { as: owner });
  await choose(page, fileOf("photos.zip", randomBytes(1000)));
  await button(page, "Upload").click();
  await page.getByText("it is not a zip file").first().waitFor();
  await button(page, "Upload another file").click();
  await page.route(PART, () => undefined);
  await choose(page, fileOf("other.zip", randomBytes(1000)));
  const uploadResponse = page.waitForResponse((response) => response.url().endsWith("/backups/uploads"));
  await button(page, "Upload").click();
  const { data } = z.object({ data: Upload }).parse(await (await uploadResponse).json());
  await page.getByText("Uploading: other.zip").first().waitFor();
  await button(page, "Abort upload").click();
  await dialog(page, "Abort upload").getByRole("button", { name: "Abort upload" }).click();
  await button(page, "Upload").waitFor();
  expect((await owner.api.get(`/backups/uploads/${data.id}`)).status).toBe(404);
  expect(await page.getByText("Unfinished upload").count()).toBe(0);
});

test("an import that failed for another reason than its archive is tried again from the page, in German, too", async ({
  open,
  faults,
}) => {
  expectStorage(faults);
  const owner = await account({ seeded: true });
  const archive = await downloaded(owner.api, (await owner.backup((await owner.instance()).id)).id);
  const [server] = (await owner.api.get("/servers")).as(z.array(z.looseObject({ name: z.string() })));
  const page = await open("/backups/upload", { as: owner, locale: "de-DE" });
  await choose(page, fileOf("umzug.zip", archive));
  await page.getByLabel("Notiz").fill("fail-import");
  await button(page, "Hochladen").click();
  await button(page, "Erneut versuchen").click();
  const form = dialog(page, "Import erneut versuchen");
  await form.getByText("Es muss nicht noch einmal hochgeladen werden").waitFor();
  await form.getByRole("button", { name: /^Server/ }).click();
  await page.getByRole("option", { name: server?.name ?? "" }).click();
  await expectAccessible(page);
  const sent = partsSent(page);
  await button(form, "Erneut versuchen").click();
  await dialog(page, /^umzug\.zip/)
    .getByText(sha256Of(archive))
    .waitFor();
  expect(sent).toEqual([]);
});

test("uploads that were begun elsewhere and leave no room can be aborted, and an empty file is called that", async ({
  open,
  faults,
}) => {
  expectStorage(faults);
  faults.expected.push(/responded with a status of 409/);
  const owner = await account({ seeded: true });
  await owner.server();
  for (const note of ["first", "second", undefined])
    await owner.api.post("/backups/uploads", { size_bytes: 2_000_000, ...(note !== undefined && { note }) });
  const page = await open("/backups/upload", { as: owner });
  await choose(page, fileOf("empty.zip", new Uint8Array()));
  await button(page, "Upload").click();
  await page.getByText("This file is empty.", { exact: true }).waitFor();
  await choose(page, fileOf("photos.zip", randomBytes(1000)));
  await button(page, "Upload").click();
  const second = page.getByText("Unfinished upload: second, 2.00 MB");
  await second.waitFor();
  await expectAccessible(page);
  expect(await page.getByText("Started in another browser").count()).toBe(3);
  await button(page, "Abort upload").nth(1).click();
  await dialog(page, "Abort upload").getByRole("button", { name: "Abort upload" }).click();
  await second.waitFor({ state: "detached" });
  await button(page, "Upload").click();
  await page.getByText("it is not a zip file").first().waitFor();
});

/** The times of sends, by the page's own clock: the test's would include how busy the machine is. */
const NOTE_SENDS = `{
  const { send } = XMLHttpRequest.prototype;
  window.sends = [];
  XMLHttpRequest.prototype.send = function (body) {
    sends.push(Date.now());
    return send.call(this, body);
  };
}`;

test("a part about which the storage says nothing for a minute is sent again", async ({ open, faults }) => {
  expectStorage(faults);
  const owner = await account({ seeded: true });
  await owner.server();
  const page = await open("/backups/upload", { as: owner, clock: true });
  await page.evaluate(NOTE_SENDS);
  const sent = partsSent(page);
  await page.route(PART, () => undefined, { times: 1 });
  await choose(page, fileOf("photos.zip", randomBytes(1000)));
  await button(page, "Upload").click();
  await expect.poll(() => sent).toEqual([1]);
  await page.clock.runFor(62_000); // a minute, and the second before a retry
  await expect.poll(() => sent).toEqual([1, 1]);
  const [first = 0, second = 0] = z.array(z.number()).parse(await page.evaluate("sends"));
  expect(second - first).toBeGreaterThanOrEqual(60_000);
  await page.getByText("it is not a zip file").first().waitFor();
});
