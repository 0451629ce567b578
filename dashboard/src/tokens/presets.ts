// Common sets of permissions, and what each permission includes beyond its name.
import { ALL_PERMISSIONS, type Permission } from "../../../shared/api/permissions.ts";

interface Preset {
  id: string;
  name: string;
  description: string;
  permissions: readonly Permission[];
}

export const PRESETS: readonly Preset[] = [
  {
    id: "read",
    name: "Read only",
    description: "View everything, change nothing.",
    permissions: ALL_PERMISSIONS.filter((permission) => permission.endsWith(":read")),
  },
  {
    id: "automation",
    name: "Automation",
    description: "Everything except account settings.",
    permissions: ALL_PERMISSIONS.filter((permission) => !permission.startsWith("settings:")),
  },
  {
    id: "backups",
    name: "Backups only",
    description: "Create and delete backups. Can't restore or download them.",
    permissions: ["instances:read", "backups:read", "backups:write"],
  },
  {
    id: "all",
    name: "Everything",
    description: "Everything you can do, except manage API keys.",
    permissions: ALL_PERMISSIONS,
  },
];

/** What users would not guess from the permission's name. */
export const BEYOND: Partial<Record<Permission, string>> = {
  "servers:read": "includes SSH keys",
  "servers:write": "includes SSH keys; can create billable servers",
  "instances:write": "cloning also needs backups:restore",
  "backups:restore": "includes downloads, which expose all data",
  "settings:read": "includes the activity log",
};

export const presetOf = (permissions: readonly Permission[]): Preset | undefined =>
  PRESETS.find(
    (preset) =>
      preset.permissions.length === permissions.length && preset.permissions.every((each) => permissions.includes(each)),
  );
