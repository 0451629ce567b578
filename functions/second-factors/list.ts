// GET /auth/second-factors
import * as secondFactors from "../../shared/api/second-factors.ts";
import { smallPage } from "../../shared/data/pages.ts";
import { listFactors } from "../../shared/records/second-factors.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(secondFactors.list)(async ({ query, caller }) =>
  smallPage(await listFactors(caller.id), query, "second_factor"),
);
