// What the roles of users allow where they decide about people and tokens.
import { invalid, permissionRequired, roleRequired } from "../../api/errors.ts";
import type { Permission } from "../../api/permissions.ts";
import { type Granted, hasRole, listPermissions, type RequiredRole, type Role } from "../../api/roles.ts";
import type { Change } from "../../data/change.ts";
import { check } from "../../data/writes.ts";
import { type Caller, roleIn } from "../../records/schemas/caller.ts";
import type { UserRecord } from "../../records/schemas/user.ts";
import { userRef } from "../../records/users.ts";

/** Throws the 403 that names the missing role. */
export function requireRole(caller: Caller, role: RequiredRole): void {
  if (!hasRole(roleIn(caller), role)) throw roleRequired(role);
}

/**
 * Only owners change an owner, or an invitation of one. This 403 comes before the one that asks for a fresh proof, so call it
 * before the request's first `read`. What it loads may change until then: check what was read, too.
 */
export async function requireRoleFor(caller: Caller, load: () => Promise<{ role: Role } | undefined>): Promise<void> {
  if (!hasRole(roleIn(caller), "owner") && (await load())?.role === "owner") requireRole(caller, "owner");
}

/**
 * Writes nothing if the caller has lost their role, or was removed, since the request was admitted. `ownRecord`: their own, if
 * that is what changes; its write must be conditional on the role itself.
 */
export function requireUnchangedRole(change: Change, caller: Caller, ownRecord?: UserRecord): void {
  const role = roleIn(caller);
  if (ownRecord !== undefined) {
    if (ownRecord.role !== role) throw roleRequired("admin");
    return;
  }
  change.write(check(userRef(caller.id).key, { unchanged: { role } }, () => roleRequired("admin")));
}

/** What the caller gives somebody: at most what they may do themselves. */
export function requireGrantable(caller: Caller, granted: Granted): void {
  if (granted.role === "owner") requireRole(caller, "owner");
  const missing = listPermissions(granted).find((permission) => !caller.permissions.includes(permission));
  if (missing !== undefined) throw permissionRequired(missing);
}

/** Whether somebody may give a role now, as they once did with an invitation. */
export const mayGrant = (sender: UserRecord | undefined, granted: Granted): boolean =>
  sender !== undefined &&
  hasRole(sender.role, granted.role === "owner" ? "owner" : "admin") &&
  listPermissions(granted).every((permission) => listPermissions(sender).includes(permission));

interface Asked {
  role?: Role | undefined;
  permissions?: Permission[] | undefined;
}

/** What a request grants; what it leaves out stays as it is. */
export function requestedGrant({ role, permissions }: Asked, current?: Granted): { role: Role; permissions: Permission[] } {
  const next = role ?? current?.role ?? "custom";
  if (next !== "custom" && permissions !== undefined)
    throw invalid({ field: "permissions", reason: "is only possible with the role custom" });
  if (next !== "custom") return { role: next, permissions: [] };
  const customPermissions = permissions ?? (current?.role === "custom" ? [...current.permissions] : undefined);
  if (customPermissions === undefined) throw invalid({ field: "permissions", reason: "is required" });
  return { role: "custom", permissions: customPermissions };
}
