// In German nothing shows a sentence of the API as it is: what a request would do, why something failed, and what a check found
// is said in the words of the catalog.
import type { Page, Response } from "playwright-core";
import { expect } from "vitest";
import * as z from "zod";
import { recordReport } from "../../shared/records/host-reports.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Server } from "../../shared/api/servers.ts";
import { getServer } from "../../shared/records/servers.ts";
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

test("the dialogs and forms that say what would happen say it in German", async ({ open }) => {
  const owner = await account({ seeded: true });
  const server = await seedServer(owner.id, { name: "erp-1" });
  const instance = await seedInstance(owner.id, { name: "Shop", server_id: server.id });
  const stopped = await seedInstance(owner.id, { name: "Lager", server_id: server.id, state: "stopped" });
  await seedBackup(instance);
  const empty = await seedServer(owner.id, { name: "erp-2" });
  const disk = { disk_free_bytes: 1_000_000_000, memory_free_bytes: 1_000_000_000, certificates: [] };
  await recordReport(await getServer(owner.id, server.id), disk);
  const page = await open("/config.json", { as: owner, locale: "de", fresh: true });
  const sentences = sentencesFor(page);

  const menu = async (item: string): Promise<void> => {
    await button(page, "Aktionen").click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  const ofBackup = async (item: string): Promise<void> => {
    await button(page, /^Aktionen:/)
      .last()
      .click();
    await page.getByRole("menuitem", { name: item, exact: true }).click();
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
    [
      `/instances/${instance.id}/clone`,
      async () => {
        await page.getByLabel("Name", { exact: true }).fill("Kopie");
        await page.getByLabel("Domain", { exact: true }).fill(uniqueDomain());
      },
    ],
  ];
  for (const [path, ask] of DIALOGS) {
    sentences.length = 0;
    await page.goto(path);
    await ask();
    await expect.poll(() => sentences.length, { message: path, timeout: 30_000 }).toBeGreaterThan(0);
    const container = path.endsWith("/clone") ? page.locator("#main") : page.getByRole("dialog").last();
    await container.getByText("Was geschieht").first().waitFor();
    for (const sentence of sentences) expect(await container.textContent(), path).not.toContain(sentence);
  }
});

const Sentences = z.looseObject({
  status_reason: z.string().nullish(),
  step: z.string().nullish(),
  detail: z.string().nullish(),
  error: z.looseObject({ message: z.string() }).nullish(),
});

/** Every sentence in a response, wherever it is. */
function sentencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const { status_reason, step, detail, error } = Sentences.safeParse(value).data ?? {};
  const ownSentences = [status_reason, step, detail, error?.message].filter((each) => each !== undefined && each !== null);
  return [...ownSentences, ...Object.values(value).flatMap(sentencesIn)];
}

test("why something failed and what a drill found is said in German, on every page", async ({ open }) => {
  const owner = await account();
  const server = await owner.server();
  const instance = await owner.instance({ server_id: server.id });
  const backup = await owner.backup(instance.id);
  const drill = (await owner.api.post(`/backups/${backup.id}/drill`, {})).as(Operation);
  await owner.until(drill.id);
  const failed = (await owner.api.post("/servers", await owner.serverBody({ name: "fail-quota-1" }))).as(Server);
  await owner.until(failed.operation_id, "failed");
  const [broken, offline] = [
    await seedInstance(owner.id, {
      server_id: server.id,
      state: "failed",
      status_reason: "The image odoo:19.0 could not be pulled",
    }),
    await seedServer(owner.id, { state: "unreachable", status_reason: "The machine is switched off at the provider" }),
  ];
  await seedBackup(broken, {
    state: "failed",
    status_reason:
      "The backup's archive cannot be used: it is a 7z archive, not the ERP's zip file: unpack it, zip its dump.sql, manifest.json and filestore, and upload that",
  });
  const page = await open("/config.json", { as: owner, locale: "de", fresh: true });
  const sentences = new Set<string>();
  const keep = async (response: Response): Promise<void> => {
    for (const sentence of sentencesIn(await response.json())) sentences.add(sentence);
  };
  page.on("response", (response) => {
    // It fails for a page that was left meanwhile.
    if (response.url().includes("/api/") && response.status() === 200) keep(response).catch(() => undefined);
  });
  const PAGES: [path: string, text: string][] = [
    ["/", "Das Kontingent beim Anbieter ist aufgebraucht"],
    [`/servers/${failed.id}`, "Das Kontingent beim Anbieter ist aufgebraucht"],
    [`/servers/${offline.id}`, "Die Maschine ist beim Anbieter ausgeschaltet"],
    [`/instances/${broken.id}`, "Das Image odoo:19.0 ließ sich nicht laden"],
    [
      "/backups",
      "Das Archiv der Sicherung ist nicht verwendbar: Es ist ein 7z-Archiv, nicht die Zip-Datei des ERP: Entpacken Sie es",
    ],
    [`/backups?backup=${backup.id}`, "Die Datenbank wurde ohne Fehler wiederhergestellt"],
  ];
  for (const [path, text] of PAGES) {
    await page.goto(path);
    await page.getByText(text).first().waitFor();
    for (const sentence of sentences) expect(await page.locator("body").textContent(), path).not.toContain(sentence);
  }
  expect(sentences.size).toBeGreaterThan(PAGES.length);
});
