// Each kind of event in words, and the page of its resource.
import type { Event } from "../../../shared/api/settings.ts";
import { workOf } from "../operations/words.ts";

/** Events that take effect immediately; all others start operations. */
const ACTIONS: Readonly<Record<string, string>> = {
  "server.update": "Renamed server",
  "backup.update": "Changed backup",
  "backup_policy.update": "Changed backup policy",
  "backup_policy.delete": "Deleted backup policy",
  "instance.overdue": "Backup overdue",
  "backup.download": "Downloaded backup",
  "backup.drill_failed": "Backup failed its restore drill",
  "ssh_key.create": "Added SSH key",
  "ssh_key.delete": "Deleted SSH key",
  "token.create": "Created API key",
  "token.delete": "Revoked API key",
  "auth.login": "Signed in",
  "auth.logout": "Signed out",
  "auth.password": "Changed password",
  "settings.update": "Changed settings",
  "account.create": "Created account",
  "account.quota": "Changed quota",
  "user.create": "Added user",
  "user.delete": "Removed user",
};

export const actionInWords = (type: string): string => ACTIONS[type] ?? workOf(type).event;

export function pageOf({ type, id }: Event["resource"]): string | undefined {
  switch (type) {
    case "server":
      return `/servers/${id}`;
    case "instance":
      return `/instances/${id}`;
    case "backup":
      return `/backups?backup=${id}`;
    case "ssh_key":
      return "/settings/ssh-keys";
    case "token":
      return "/settings/api-keys";
    case "account":
    case "user":
      return "/settings/account";
    default:
      return undefined;
  }
}
