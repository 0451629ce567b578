// GET /webhooks
import * as webhooks from "../../shared/api/webhooks.ts";
import { smallPage } from "../../shared/data/pages.ts";
import { allWebhooks, showWebhooks } from "../../shared/records/webhooks.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(webhooks.list)(async ({ query, caller }) => {
  const { items, meta } = smallPage(await allWebhooks(caller.account_id), query, "webhook");
  return { items: await showWebhooks(caller.account_id, items), meta };
});
