// PUT /users/:id
import * as users from "../../shared/api/users.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import {
  requestedGrant,
  requireGrantable,
  requireRole,
  requireRoleFor,
  requireUnchangedRole,
} from "../../shared/operations/credentials/roles.ts";
import { removeUnsendable } from "../../shared/operations/sign-in/sent-invitations.ts";
import { changesBetween } from "../../shared/records/audit-changes.ts";
import { logEvent } from "../../shared/records/events.ts";
import {
  findMember,
  requireOtherOwner,
  memberRef,
  requireUser,
  setUser,
  showUser,
  userVersion,
} from "../../shared/records/users.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(users.update)(async ({ params, body, caller, by, read, commit, match }) => {
  const isOwn = params.id === caller.id;
  const grants = body.role !== undefined || body.permissions !== undefined;
  if (!isOwn || grants) requireRole(caller, "admin");
  if (body.role === "owner") requireRole(caller, "owner");
  if (!isOwn) await requireRoleFor(caller, () => findMember(caller.account_id, params.id));
  const { updated, representation } = await retryOnConflict(async () => {
    const { change, member } = await beginChange({ caller, read }, { member: memberRef(caller.account_id, params.id) });
    const user = await requireUser(member, params.id);
    if (!isOwn && user.role === "owner") requireRole(caller, "owner");
    match(change, userVersion(user));
    if (!isOwn || grants) requireUnchangedRole(change, caller, isOwn ? user : undefined);
    const granted = grants ? requestedGrant(body, user) : user;
    if (grants) requireGrantable(caller, granted);
    if (grants) await removeUnsendable(user, by);
    // An owner who changes another one stays, which `requireUnchangedRole` holds.
    if (isOwn && user.role === "owner" && granted.role !== "owner") await requireOtherOwner(change, user);
    const { name = user.name, notifications = user.notifications } = body;
    const { role, permissions } = granted;
    const updated = setUser(change, user, { name, role, permissions, notifications });
    const changes = changesBetween(user, updated, ["name", "role", "permissions", "notifications"]);
    const isGranted = changes.some(({ field }) => field === "role" || field === "permissions");
    const type = isGranted ? "user.role_changed" : "user.update";
    logEvent(change, by, { type, changes }, { type: "user", id: user.id, name: updated.name });
    return { updated, representation: await commit(change, showUser(updated, caller)) };
  });
  if (grants) await removeUnsendable(updated, by);
  return representation;
});
