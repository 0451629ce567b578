// GET /auth/me
import * as auth from "../../shared/api/auth.ts";
import { accountRef, requireAccount } from "../../shared/records/accounts.ts";
import { callerRef } from "../../shared/operations/credentials/admission.ts";
import { roleIn } from "../../shared/records/schemas/caller.ts";
import { showUser, userRef } from "../../shared/records/users.ts";
import { env } from "../../shared/platform/env.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(auth.me)(async ({ caller, read }) => {
  const { account, credential, user } = await read({
    account: accountRef(caller.account_id),
    credential: callerRef(caller),
    ...(caller.type === "user" && { user: userRef(caller.id) }),
  });
  const { id, account_name: name } = requireAccount(account);
  return {
    user: user === undefined ? null : showUser(user, caller),
    token: caller.type === "token" ? { id: caller.id, name: credential?.name ?? caller.id } : null,
    account: { id, name },
    role: roleIn(caller) ?? null,
    permissions: caller.permissions,
    environment: env().ENVIRONMENT,
  };
});
