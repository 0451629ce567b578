// DELETE /users/:id
import * as users from "../../shared/api/users.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { requireRole, requireRoleFor, requireUnchangedRole } from "../../shared/operations/credentials/roles.ts";
import { isUsable, revokeAll, tokensBy } from "../../shared/operations/credentials/tokens-of-users.ts";
import { logEvent } from "../../shared/records/events.ts";
import { removeInvitationsOf } from "../../shared/records/invitations.ts";
import { removeFactorsOfUser } from "../../shared/records/second-factors.ts";
import { findMember, requireOtherOwner, memberRef, removeUser, requireUser, userVersion } from "../../shared/records/users.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(users.delete)(async ({ params, query, caller, by, read, commit, match }) => {
  const isOwn = params.id === caller.id;
  const revokes = query.revoke_tokens === "true";
  const theirTokens = () => tokensBy({ id: params.id, account_id: caller.account_id });
  await requireRoleFor(caller, () => findMember(caller.account_id, params.id));
  await retryOnConflict(async () => {
    const { change, member } = await beginChange({ caller, read }, { member: memberRef(caller.account_id, params.id) });
    // Whoever repeats a request that was cut off after the removal finds no user, but revokes the rest.
    if (revokes && member === undefined)
      await revokeAll(by, await theirTokens(), (change) => requireUnchangedRole(change, caller));
    const user = await requireUser(member, params.id);
    if (user.role === "owner") requireRole(caller, "owner");
    match(change, userVersion(user));
    requireUnchangedRole(change, caller, isOwn ? user : undefined);
    if (isOwn && user.role === "owner") await requireOtherOwner(change, user);
    removeUser(change, user);
    await removeFactorsOfUser(change, user);
    await removeInvitationsOf(change, user);
    logEvent(change, by, "user.removed", { type: "user", id: user.id, name: user.name });
    return commit(change, { id: user.id, deleted: true, tokens: [] });
  });
  // From here on the user creates no tokens, and it is certain that the caller could remove the user.
  const created = await theirTokens();
  if (revokes) await revokeAll(by, created);
  return { id: params.id, deleted: true, tokens: created.filter(isUsable).map(({ id, name }) => ({ id, name })) };
});
