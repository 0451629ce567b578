// What each kind of event is, in words, and the page on which its resource is.
import type { Event } from "../../../shared/api/settings.ts";
import type { OperationType } from "../../../shared/api/operations.ts";

const DEEDS: Readonly<Record<string, string>> = {
  "server.create": "Create server",
  "server.update": "Rename server",
  "server.delete": "Delete server",
  "instance.create": "Create instance",
  "instance.clone": "Clone instance",
  "instance.update": "Change instance",
  "instance.start": "Start instance",
  "instance.stop": "Stop instance",
  "instance.restart": "Restart instance",
  "instance.delete": "Delete instance",
  "backup.create": "Back up",
  "backup.delete": "Delete backup",
  "backup.restore": "Restore backup",
  "backup.download": "Download backup",
  "ssh_key.create": "Add SSH key",
  "ssh_key.delete": "Delete SSH key",
  "token.create": "Create API key",
  "token.delete": "Revoke API key",
  "auth.login": "Log in",
  "auth.logout": "Log out",
  "auth.password": "Change password",
  "settings.update": "Change settings",
  "account.create": "Create account",
  "account.quota": "Change quota",
  "user.create": "Add user",
  "user.delete": "Remove user",
} satisfies Record<OperationType, string> & Record<string, string>;

/** A newer service may know more than this page. */
export const deedInWords = (type: string): string => DEEDS[type] ?? type;

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
