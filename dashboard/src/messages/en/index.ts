// All that the dashboard says, in English: one file for each area of the dashboard. Other languages have the same files, and the
// type of this one.
//
// To add a message:
// 1. Add it to the area's file here and in `../de`. A message that is missing there, or is not here, does not compile.
// 2. Use it as `text.settings.saved` (`import { text } from "../messages/text.ts"`), inside a function: the catalog is loaded
//    together with the modules that use it, so a constant of a module cannot have it.
// A message with parameters is a function, and it decides about plurals. Parameters that are elements, such as a link in a
// sentence, are React nodes; the area's file is then a .tsx. Never put a sentence together from messages: other languages have
// another order. To add an area: a file in `en` and one in `de`, its lines below and in text.ts, the pages in shell/routes.tsx
// that need it.
// To add a language: shared/domain/languages.ts names each, and what lacks its words no longer compiles.
import type { alerts } from "./alerts.ts";
import type { allowed } from "./allowed.ts";
import { app } from "./app.tsx";
import type { backups } from "./backups.tsx";
import type { backupDialogs } from "./backup-dialogs.ts";
import type { bulk } from "./bulk.tsx";
import type { code } from "./code.tsx";
import type { events } from "./events.ts";
import type { home } from "./home.tsx";
import type { instances } from "./instances.tsx";
import type { login } from "./login.tsx";
import type { logs } from "./logs.ts";
import type { metrics } from "./metrics.ts";
import { operations } from "./operations.tsx";
import type { people } from "./people.tsx";
import type { policies } from "./policies.tsx";
import type { reports } from "./reports.ts";
import { resource } from "./resource.tsx";
import type { servers } from "./servers.ts";
import type { settings } from "./settings.ts";
import { shell } from "./shell.tsx";
import type { sshKeys } from "./ssh-keys.tsx";
import type { tokens } from "./tokens.tsx";
import type { uploads } from "./uploads.ts";
import type { webhooks } from "./webhooks.ts";

/** Every page needs these. The others are loaded with the pages that need them. */
export const en = { app, operations, resource, shell };

interface Areas {
  alerts: typeof alerts;
  allowed: typeof allowed;
  backups: typeof backups;
  backupDialogs: typeof backupDialogs;
  bulk: typeof bulk;
  code: typeof code;
  events: typeof events;
  home: typeof home;
  instances: typeof instances;
  login: typeof login;
  people: typeof people;
  logs: typeof logs;
  metrics: typeof metrics;
  policies: typeof policies;
  reports: typeof reports;
  servers: typeof servers;
  settings: typeof settings;
  sshKeys: typeof sshKeys;
  tokens: typeof tokens;
  uploads: typeof uploads;
  webhooks: typeof webhooks;
}

export type Messages = typeof en & Areas;
