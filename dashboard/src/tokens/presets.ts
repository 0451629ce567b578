// Common sets of permissions.
import { ALL_PERMISSIONS, type Permission } from "../../../shared/api/permissions.ts";

interface Preset {
  id: "read" | "automation" | "backups" | "all";
  permissions: readonly Permission[];
}

export const PRESETS: readonly Preset[] = [
  {
    id: "read",
    permissions: ALL_PERMISSIONS.filter((permission) => permission.endsWith(":read")),
  },
  {
    id: "automation",
    permissions: ALL_PERMISSIONS.filter((permission) => !permission.startsWith("settings:")),
  },
  {
    id: "backups",
    permissions: ["instances:read", "backups:read", "backups:write"],
  },
  {
    id: "all",
    permissions: ALL_PERMISSIONS,
  },
];

export const presetOf = (permissions: readonly Permission[]): Preset | undefined =>
  PRESETS.find(
    (preset) =>
      preset.permissions.length === permissions.length && preset.permissions.every((each) => permissions.includes(each)),
  );
