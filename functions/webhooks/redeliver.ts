// POST /webhooks/:id/deliveries/:delivery_id/redeliver
import * as webhooks from "../../shared/api/webhooks.ts";
import { deliveryPending } from "../../shared/api/errors.ts";
import { getDelivery, reopen } from "../../shared/records/deliveries.ts";
import { logEvent } from "../../shared/records/events.ts";
import { announceWebhook } from "../../shared/records/outbox.ts";
import { requireWebhook, requireEnabled, requireSubscribable, webhookRef } from "../../shared/records/webhooks.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(webhooks.redeliver)(async ({ params, caller, by, read, commit }) => {
  const { change, ...records } = await beginChange({ caller, read }, { webhook: webhookRef(caller.account_id, params.id) });
  const webhook = requireWebhook(records.webhook);
  requireSubscribable(caller, webhook.events);
  const delivery = await getDelivery(caller.account_id, webhook.id, params.delivery_id);
  requireEnabled(webhook);
  const reopened = await reopen(delivery);
  if (reopened === undefined) throw deliveryPending();
  announceWebhook(change, webhook.id);
  logEvent(change, by, "webhook.redeliver", { type: "webhook", id: webhook.id, name: webhook.name });
  return commit(change, reopened);
});
