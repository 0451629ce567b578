// Sets of permissions that are often wanted, and what each permission gives beyond its name.
import { ALL_PERMISSIONS, type Permission } from "../../../shared/api/permissions.ts";

export interface Preset {
  id: string;
  name: string;
  description: string;
  permissions: readonly Permission[];
}

export const PRESETS: readonly Preset[] = [
  {
    id: "read",
    name: "Read only",
    description: "Sees everything, changes nothing.",
    permissions: ALL_PERMISSIONS.filter((permission) => permission.endsWith(":read")),
  },
  {
    id: "automation",
    name: "Automation",
    description: "Everything but the account's settings.",
    permissions: ALL_PERMISSIONS.filter((permission) => !permission.startsWith("settings:")),
  },
  {
    id: "backups",
    name: "Backups only",
    description: "Makes and deletes backups of instances; cannot restore or download them.",
    permissions: ["instances:read", "backups:read", "backups:write"],
  },
  {
    id: "all",
    name: "Everything",
    description: "All that a signed-in person may do, but managing API keys.",
    permissions: ALL_PERMISSIONS,
  },
];

/** What one would not guess from the permission's own words. */
export const BEYOND: Partial<Record<Permission, string>> = {
  "servers:read": "also SSH keys",
  "servers:write": "also SSH keys; servers cost money",
  "instances:write": "cloning needs backups:restore too",
  "backups:restore": "also download them: whoever may has all the data",
  "settings:read": "also everybody's activity",
};

export const presetOf = (permissions: readonly Permission[]): Preset | undefined =>
  PRESETS.find(
    (preset) =>
      preset.permissions.length === permissions.length && preset.permissions.every((each) => permissions.includes(each)),
  );
