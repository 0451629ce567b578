// What actions need, by their names in menus, dialogs and bulk actions.
import type { Need } from "../app/may.tsx";

const WRITE: readonly Need[] = ["instances:write"];
const ACT: readonly Need[] = ["instances:actions"];
const BACK_UP: readonly Need[] = ["backups:write"];

export const INSTANCE_NEEDS = {
  "back-up": BACK_UP,
  backup: BACK_UP,
  restore: ["backups:restore"],
  deploy: WRITE,
  code: ["instances:write", "backups:restore"],
  policy: BACK_UP,
  set_policy: BACK_UP,
  delete_policy: BACK_UP,
  start: ACT,
  stop: ACT,
  restart: ACT,
  edit: WRITE,
  domain: WRITE,
  set_labels: WRITE,
  clone: ["instances:write", "backups:restore"],
  delete: WRITE,
  "start-call": ACT,
  tell: ["settings:read"],
} as const satisfies Record<string, readonly Need[]>;

export const SERVER_NEEDS = {
  create: WRITE,
  edit: ["servers:write"],
  like: ["servers:write"],
  reboot: ["servers:write"],
  update: ["servers:write"],
  set_labels: ["servers:write"],
  delete: ["servers:write"],
  tell: ["settings:read"],
} as const satisfies Record<string, readonly Need[]>;

export const BACKUP_NEEDS = {
  restore: ["backups:restore"],
  drill: ["backups:restore"],
  clone: ["instances:write", "backups:restore"],
  download: ["backups:restore"],
  "download-call": ["backups:restore"],
  edit: BACK_UP,
  lock: BACK_UP,
  unlock: BACK_UP,
  set_labels: BACK_UP,
  delete: BACK_UP,
} as const satisfies Record<string, readonly Need[]>;
