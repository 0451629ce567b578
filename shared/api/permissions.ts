// The permissions a token can have, and what each one grants.

export const PERMISSIONS = {
  "servers:read": "View servers",
  "servers:write": "Create, update, delete servers",
  "instances:read": "View instances",
  "instances:write": "Create, update, delete instances",
  "instances:actions": "Start, stop, restart instances",
  "backups:read": "View backups",
  "backups:write": "Create, delete backups",
  "backups:restore": "Restore backups",
  "settings:read": "View account settings",
  "settings:write": "Update account settings",
} as const;

export type Permission = keyof typeof PERMISSIONS;

const isPermission = (value: string): value is Permission => Object.hasOwn(PERMISSIONS, value);

/** Every permission, in the order of docs/api.md: what a signed-in user has. */
export const ALL_PERMISSIONS: readonly Permission[] = Object.keys(PERMISSIONS).filter(isPermission);
