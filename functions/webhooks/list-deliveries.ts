// GET /webhooks/:id/deliveries
import * as webhooks from "../../shared/api/webhooks.ts";
import { listDeliveries } from "../../shared/records/deliveries.ts";
import { getWebhook } from "../../shared/records/webhooks.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(webhooks.listDeliveries)(async ({ params, query, caller }) => {
  const webhook = await getWebhook(caller.account_id, params.id);
  return listDeliveries(caller.account_id, webhook.id, query);
});
