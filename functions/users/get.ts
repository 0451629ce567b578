// GET /users/:id
import * as users from "../../shared/api/users.ts";
import { getUser, showUser } from "../../shared/records/users.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(users.get)(async ({ params, caller }) =>
  showUser(await getUser(caller.account_id, params.id), caller),
);
