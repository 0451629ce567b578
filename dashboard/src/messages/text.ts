// What the dashboard says, in the user's language: `text.settings.saved`. How to add a message: messages/en/index.ts.
import type { Messages } from "./en/index.ts";
import type { Language } from "../../../shared/domain/languages.ts";
import { language } from "./language.ts";

const CATALOGS = {
  en: async () => (await import("./en/index.ts")).en,
  de: async () => (await import("./de/index.ts")).de,
} satisfies Record<Language, () => Promise<Partial<Messages>>>;

/** The areas that only some pages need. */
const AREAS = {
  en: {
    alerts: () => import("./en/alerts.ts"),
    allowed: () => import("./en/allowed.ts"),
    backups: () => import("./en/backups.tsx"),
    backupDialogs: () => import("./en/backup-dialogs.ts"),
    bulk: () => import("./en/bulk.tsx"),
    code: () => import("./en/code.tsx"),
    events: () => import("./en/events.ts"),
    home: () => import("./en/home.tsx"),
    instances: () => import("./en/instances.tsx"),
    login: () => import("./en/login.tsx"),
    people: () => import("./en/people.tsx"),
    logs: () => import("./en/logs.ts"),
    metrics: () => import("./en/metrics.ts"),
    policies: () => import("./en/policies.tsx"),
    reports: () => import("./en/reports.ts"),
    servers: () => import("./en/servers.ts"),
    settings: () => import("./en/settings.ts"),
    sshKeys: () => import("./en/ssh-keys.tsx"),
    tokens: () => import("./en/tokens.tsx"),
    uploads: () => import("./en/uploads.ts"),
    webhooks: () => import("./en/webhooks.ts"),
  },
  de: {
    alerts: () => import("./de/alerts.ts"),
    allowed: () => import("./de/allowed.ts"),
    backups: () => import("./de/backups.tsx"),
    backupDialogs: () => import("./de/backup-dialogs.ts"),
    bulk: () => import("./de/bulk.tsx"),
    code: () => import("./de/code.tsx"),
    events: () => import("./de/events.ts"),
    home: () => import("./de/home.tsx"),
    instances: () => import("./de/instances.tsx"),
    login: () => import("./de/login.tsx"),
    people: () => import("./de/people.tsx"),
    logs: () => import("./de/logs.ts"),
    metrics: () => import("./de/metrics.ts"),
    policies: () => import("./de/policies.tsx"),
    reports: () => import("./de/reports.ts"),
    servers: () => import("./de/servers.ts"),
    settings: () => import("./de/settings.ts"),
    sshKeys: () => import("./de/ssh-keys.tsx"),
    tokens: () => import("./de/tokens.tsx"),
    uploads: () => import("./de/uploads.ts"),
    webhooks: () => import("./de/webhooks.ts"),
  },
} satisfies Record<Language, { [Area in Exclude<keyof Messages, keyof Awaited<ReturnType<typeof CATALOGS.en>>>]: unknown }>;
export type Area = keyof (typeof AREAS)["en"];

/** Loaded before anything is rendered, but together with the modules that use it: only functions may read it. */
export let text: Messages;

export async function loadText(): Promise<void> {
  const loaded = await CATALOGS[language]();
  text = { ...text, ...loaded };
}

/** Loads areas before a page is rendered that needs them. */
export async function loadAreas(...areas: Area[]): Promise<void> {
  const loaded = await Promise.all(areas.map((area) => AREAS[language][area]()));
  text = Object.assign({}, text, ...loaded);
}
