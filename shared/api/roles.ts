// The roles of users, and what each may do.
import { ALL_PERMISSIONS, type Permission } from "./permissions.ts";

export const ROLES = ["owner", "admin", "operator", "viewer", "custom"] as const;
export type Role = (typeof ROLES)[number];

/** How a session was opened. */
export const SIGNED_IN_WITH = ["password", "passkey", "totp", "recovery_code", "sso"] as const;
export type SignedInWith = (typeof SIGNED_IN_WITH)[number];

/** What an endpoint may require beside a session: an owner, or an owner or admin. */
export type RequiredRole = "owner" | "admin";

/** What a user may do: the permissions are those of a custom role, and empty for the others. */
export interface Granted {
  role: Role;
  permissions: readonly Permission[];
}

const GRANTS: Readonly<Record<string, readonly Permission[]>> = {
  owner: ALL_PERMISSIONS,
  admin: ALL_PERMISSIONS,
  operator: ALL_PERMISSIONS.filter((permission) => permission !== "settings:write"),
  viewer: ALL_PERMISSIONS.filter((permission) => permission.endsWith(":read")),
} satisfies Record<Exclude<Role, "custom">, readonly Permission[]>;

/** A role that this version does not know grants nothing. */
export const listPermissions = ({ role, permissions }: Granted): readonly Permission[] =>
  role === "custom" ? permissions : (GRANTS[role] ?? []);

export const hasRole = (role: Role | undefined, required: RequiredRole): boolean =>
  role === "owner" || (required === "admin" && role === "admin");
