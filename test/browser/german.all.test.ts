// In German nothing on any page is English: every text of every page, dialog and menu is compared with the sentences that the API
// has sent, with the English catalog, and with words that no German sentence has.
import { globSync } from "node:fs";
import { join } from "node:path";
import type { Page, Response } from "playwright-core";
import { beforeAll, expect } from "vitest";
import * as z from "zod";
import { ROOT } from "../../infra/built.ts";
import { DryRun } from "../../shared/api/dry-run.ts";
import { Operation } from "../../shared/api/operations.ts";
import { Server } from "../../shared/api/servers.ts";
import { Webhook } from "../../shared/api/webhooks.ts";
import { recordReport } from "../../shared/records/host-reports.ts";
import { statusReason } from "../../shared/records/reasons.ts";
import { getServer } from "../../shared/records/servers.ts";
import { because } from "../../shared/domain/reasons.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { seedBackup, seedInstance, seedServer } from "../harness/seed.ts";
import { moveTo, test } from "./browser.ts";
import { pressAll, settlerOf } from "./openers.ts";
import { deployed, PAGES } from "./pages.ts";

/** Words that every English sentence has, and no German one. */
const ENGLISH_WORDS =
  /(?<![\w.@/-])(the|of|and|is|are|isn't|with|your|you|this|that|from|has|have|for|or|by|to|can|be|it|its|on|at|no|yes)(?![\w@/-]|\.\w)/i;

const stringsIn = (value: unknown): string[] =>
  typeof value === "string"
    ? [value]
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap((part) => stringsIn(part))
      : [];

async function catalog(language: string): Promise<Set<string>> {
  const files = globSync(`dashboard/src/messages/${language}/*.{ts,tsx}`, { cwd: ROOT });
  const modules: unknown[] = await Promise.all(files.map((file) => import(join(ROOT, file))));
  return new Set(modules.flatMap((module) => stringsIn({ ...(typeof module === "object" && module) })));
}

const Sentences = z.looseObject({
  status_reason: z.string().nullish(),
  step: z.string().nullish(),
  detail: z.string().nullish(),
  reason: z.string().nullish().catch(null),
  error: z.looseObject({ message: z.string() }).nullish(),
});

/** Every sentence in a response, wherever it is. */
function sentencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const { status_reason, step, detail, reason, error } = Sentences.safeParse(value).data ?? {};
  const ownSentences = [status_reason, step, detail, reason, error?.message].flatMap((each) =>
    each?.includes(" ") ? [each] : [],
  );
  return [...ownSentences, ...(DryRun.safeParse(value).data?.warnings ?? []), ...Object.values(value).flatMap(sentencesIn)];
}

/** The sentences of all responses that a page has got. */
function sentencesFor(page: Page): Set<string> {
  const sentences = new Set<string>();
  const keep = async (response: Response): Promise<void> => {
    for (const sentence of sentencesIn(await response.json())) sentences.add(sentence);
  };
  page.on("response", (response) => {
    // It fails for a page that was left meanwhile, and without a body.
    if (response.url().includes("/api/") && response.status() < 300) keep(response).catch(() => undefined);
  });
  return sentences;
}

/** What users see and what screen readers say, except code and what users typed. */
const TEXTS = `(() => {
  const texts = new Set();
  for (const element of document.body.querySelectorAll("*")) {
    if (element.closest("code, pre, script, style, noscript, textarea") || !element.checkVisibility()) continue;
    for (const name of ["aria-label", "placeholder", "title", "alt", "aria-description", "aria-roledescription"])
      texts.add(element.getAttribute(name) ?? "");
    for (const node of element.childNodes) if (node.nodeType === 3) texts.add(node.textContent.trim());
  }
  return [...texts].filter((text) => text !== "");
})()`;
const Texts = z.array(z.string());

/** They act at once, leave the page, or open what is the browser's own. */
const NOT_PRESSED = /^(Abmelden|Starten|Erneut starten|Neu laden|Herunterladen|Datei auswählen)$/;

/** Records in every state that shows a sentence of its own, and the pages of all routes, for each of them. */
async function furnish(owner: TestAccount): Promise<string[]> {
  const server = await owner.server({ name: "srv-1", labels: { ort: "kiel" } });
  const instance = await owner.instance({ name: "Laden", server_id: server.id, labels: { ort: "kiel" } });
  const backup = await owner.backup(instance.id, { note: "Vor der Inventur" });
  await owner.api.put(`/instances/${instance.id}/backup-policy`, {
    schedule: "30 3 * * 1-5",
    timezone: "Europe/Berlin",
    keep: { last: 3, daily: 7 },
    drill_every_days: 7,
  });
  await owner.until((await owner.api.post(`/backups/${backup.id}/drill`, {})).as(Operation).id);
  const failing = await owner.backup(instance.id, { note: "fail-drill" });
  await owner.until((await owner.api.post(`/backups/${failing.id}/drill`, {})).as(Operation).id);
  await owner.until((await owner.api.post(`/backups/${backup.id}/restore`, {})).as(Operation).id);
  const failed = (await owner.api.post("/servers", await owner.serverBody({ name: "fail-quota-1" }))).as(Server);
  await owner.until(failed.operation_id, "failed");
  await recordReport(await getServer(owner.id, server.id), {
    disk_free_bytes: 1_000_000_000,
    memory_free_bytes: 1_000_000_000,
    certificates: [],
  });
  const offline = await seedServer(owner.id, { state: "unreachable", ...statusReason(because("machine_off")) });
  const pull = because("image_not_pulled_because", {
    image: "odoo:19.0",
    why: because("pull_limited", { registry: "docker.io" }),
  });
  const [broken, stopped, down, paused] = [
    await seedInstance(owner.id, { name: "Lager", server_id: server.id, state: "failed", ...statusReason(pull) }),
    await seedInstance(owner.id, { name: "Werkstatt", server_id: server.id, state: "stopped" }),
    await seedInstance(owner.id, {
      name: "Kasse",
      server_id: server.id,
      health_status: "failing",
      health_since: "2026-11-20T12:00:00.000Z",
      health_fault: "page",
    }),
    await seedInstance(owner.id, { name: "Archiv", server_id: server.id, ...statusReason(because("disk_paused")) }),
  ];
  const archive = because("archive_is_other", { is: because("is_7z"), advice: because("advice_repack") });
  await seedBackup(stopped, { state: "failed", ...statusReason(because("dump_failed")) });
  await seedBackup(broken, { state: "failed", ...statusReason(because("backup_unusable", { why: archive })) });
  await owner.token(["servers:read"]);
  const repository = (ref: string) => ({ repositories: [{ url: "https://git.example/acme", ref }], install_modules: ["acme"] });
  await owner.api.put(`/instances/${instance.id}/code`, repository("main"));
  const deploy = await deployed(owner, instance.id);
  await owner.api.put(`/instances/${instance.id}/code`, repository("fail-update"));
  const undone = await deployed(owner, instance.id, "failed");
  const silent = (await owner.api.post("/webhooks", { name: "Kasse", url: "https://slow.example/", events: ["*"] })).as(Webhook);
  await owner.api.post(`/webhooks/${silent.id}/test`, {});
  const ofRoute: Readonly<Record<string, readonly string[]>> = {
    "/servers/:id": [server, failed, offline].map(({ id }) => `/servers/${id}`),
    "/instances/create": ["/instances/create", `/instances/create?backup=${backup.id}`],
    "/instances/:id": [
      ...[instance, broken, stopped, down, paused].map(({ id }) => `/instances/${id}`),
      ...["backups", "code", "history", "settings"].map((tab) => `/instances/${instance.id}?tab=${tab}`),
    ],
    "/instances/:id/clone": [`/instances/${instance.id}/clone`],
    "/settings/webhooks/:id": [`/settings/webhooks/${silent.id}`],
    "/deploys/:id": [`/deploys/${deploy}`, `/deploys/${undone}`],
    "/backups": ["/backups", ...[backup, failing].map(({ id }) => `/backups?backup=${id}`)],
    "*": ["/nirgends"],
  };
  return PAGES.flatMap(({ route }) => ofRoute[route] ?? [route]);
}

let owner: TestAccount;
let english: Set<string>;
/** One test after another takes minutes: each has a part of the pages. */
const PARTS: readonly (readonly [name: string, paths: RegExp])[] = [
  ["lists", /^\/(?:servers|instances|backups|activity)?$/],
  ["servers", /^\/servers/],
  ["instances", /^\/instances/],
  ["others", /^/],
];
let paths: Map<string | undefined, string[]>;

beforeAll(async () => {
  owner = await account();
  paths = Map.groupBy(await furnish(owner), (path) => PARTS.find(([, of]) => of.test(path))?.[0]);
  const [en, de] = [await catalog("en"), await catalog("de")];
  english = new Set([...en].filter((each) => each.length > 2 && !de.has(each)));
});

for (const [name] of PARTS)
  test(`nothing is English in the German dashboard: ${name}`, async ({ open }) => {
    const page = await open("/config.json", { as: owner, locale: "de-DE", fresh: true });
    const sentences = sentencesFor(page);
    const settle = settlerOf(page);
    const englishTexts: Record<string, string[]> = {};

    const look = async (where: string): Promise<void> => {
      await settle();
      const isEnglish = (text: string): boolean =>
        english.has(text) || ENGLISH_WORDS.test(text) || [...sentences].some((sentence) => text.includes(sentence));
      const texts = Texts.parse(await page.evaluate(TEXTS)).filter((text) => isEnglish(text.replaceAll(owner.user.name, "…")));
      if (texts.length > 0) englishTexts[where] = texts;
    };
    const show = async (path: string): Promise<void> => {
      await moveTo(page, path);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await settle();
    };
    const pressed = new Set<string>();
    await page.goto("/");
    for (const path of paths.get(name) ?? []) {
      await show(path);
      await look(path);
      if (path.includes("?backup=bak_")) continue; // the open panel is in front of the list, whose buttons "/backups" has
      await pressAll({ page, path, pressed, notPressed: NOT_PRESSED, show, settle, look: (label) => look(`${path}: ${label}`) });
    }
    expect(englishTexts).toEqual({});
    expect(pressed.size).toBeGreaterThan(5);
  });
