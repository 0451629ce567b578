// In German no dialog shows a sentence of the API as it is: what a request would do is said in the words of the catalog.
import type { Page, Response } from "playwright-core";
import { expect } from "vitest";
import * as z from "zod";
import { recordReport } from "../../shared/data/host-reports.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import { getServer } from "../../shared/data/servers.ts";
import { account, uniqueDomain } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { test } from "./browser.ts";
import { button } from "./instance-page.ts";

/** Every sentence of every dry run that the page gets. */
function sentencesFor(page: Page): string[] {
  const sentences: string[] = [];
  const keep = async (response: Response): Promise<void> => {
    const { effects, warnings } = z.object({ data: DryRun }).parse(await response.json()).data;
    sentences.push(...effects.map(({ detail }) => detail), ...warnings);
  };
  page.on("response", (response) => {
    if (!response.url().includes("dry_run=true") || !response.ok()) return;
    void keep(response);
  });
  return sentences;
}

test("the dialogs that say what would happen say it in German", async ({ open }) => {
  const mine = await account({ seeded: true });
  const server = await seedServer(mine.id, { name: "erp-1" });
  const instance = await seedInstance(mine.id, { name: "Shop", server_id: server.id });
  const stopped = await seedInstance(mine.id, { name: "Lager", server_id: server.id, state: "stopped" });
  await seedBackup(instance);
  const empty = await seedServer(mine.id, { name: "erp-2" });
  const disk = { disk_free_bytes: 1_000_000_000, memory_free_bytes: 1_000_000_000, certificates: [] };
  await recordReport(await getServer(mine.id, server.id), disk);
  const page = await open("/config.json", { as: mine, locale: "de", fresh: true });
  const sentences = sentencesFor(page);

  const menu = async (item: string): Promise<void> => {
    await button(page, "Aktionen").click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  const ofBackup = async (item: string): Promise<void> => {
    await button(page, /^Aktionen/)
      .last()
      .click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  const DIALOGS: [path: string, ask: () => Promise<void>][] = [
    [`/instances/${instance.id}`, () => button(page, "Stoppen").click()],
    [`/instances/${instance.id}`, () => button(page, "Neu starten").click()],
    [`/instances/${instance.id}`, () => menu("Löschen")],
    [`/instances/${stopped.id}`, () => menu("Löschen")],
    [`/instances/${instance.id}`, () => button(page, /^Automatische Sicherungen/).click()],
    [
      `/instances/${instance.id}`,
      async () => {
        await menu("Domain ändern");
        await page.getByLabel("Neue Domain").fill(uniqueDomain());
      },
    ],
    ["/backups", () => ofBackup("Wiederherstellen")],
    ["/backups", () => ofBackup("Löschen")],
    [`/servers/${empty.id}`, () => button(page, "Löschen").click()],
  ];
  for (const [path, ask] of DIALOGS) {
    sentences.length = 0;
    await page.goto(path);
    await ask();
    await expect.poll(() => sentences.length, { message: path, timeout: 30_000 }).toBeGreaterThan(0);
    const dialog = page.getByRole("dialog").last();
    await dialog.getByText("Was geschieht").first().waitFor();
    for (const sentence of sentences) expect(await dialog.textContent(), path).not.toContain(sentence);
  }
}, 240_000);
