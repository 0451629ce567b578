// GET /webhooks/:id
import * as webhooks from "../../shared/api/webhooks.ts";
import { healthRef, requireWebhook, toWebhook, webhookRef } from "../../shared/records/webhooks.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(webhooks.get)(async ({ params, caller, read }) => {
  const { webhook, health } = await read({
    webhook: webhookRef(caller.account_id, params.id),
    health: healthRef(caller.account_id, params.id),
  });
  return toWebhook(requireWebhook(webhook), health);
});
