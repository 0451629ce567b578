// GET /users
import * as users from "../../shared/api/users.ts";
import { allUsers, showUser } from "../../shared/records/users.ts";
import { smallPage } from "../../shared/data/pages.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(users.list)(async ({ query, caller }) => {
  const { items, meta } = smallPage(await allUsers(caller.account_id), query, "user");
  return { items: items.map((user) => showUser(user, caller)), meta };
});
