// GET /webhooks/:id/deliveries/:delivery_id
import * as webhooks from "../../shared/api/webhooks.ts";
import { getDelivery } from "../../shared/records/deliveries.ts";
import { getWebhook } from "../../shared/records/webhooks.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(webhooks.getDelivery)(async ({ params, caller }) => {
  const webhook = await getWebhook(caller.account_id, params.id);
  return getDelivery(caller.account_id, webhook.id, params.delivery_id);
});
