// Who may read what an event is about.
import type { Permission } from "./permissions.ts";
import type { EventType } from "../domain/event-types.ts";

const READ: Readonly<Record<string, Permission>> = {
  server: "servers:read",
  ssh_key: "servers:read",
  instance: "instances:read",
  backup: "backups:read",
  upload: "backups:read",
} satisfies Partial<Record<EventType["about"], Permission>>;

/** The permission that the fields of an event need, and the record that it is about. */
export const permissionForEvent = (type: string, resourceType: string): Permission =>
  type.startsWith("backup_policy.") ? "backups:read" : (READ[resourceType] ?? "settings:read");
