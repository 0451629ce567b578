// GET /tokens
import * as tokens from "../../shared/api/tokens.ts";
import { allTokens } from "../../shared/records/tokens.ts";
import { smallPage } from "../../shared/data/pages.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(tokens.list)(async ({ query, caller }) => {
  const tokens = await allTokens(caller.account_id);
  return smallPage(tokens, query, "token");
});
