// POST /webhooks/:id/redeliver
import * as webhooks from "../../shared/api/webhooks.ts";
import { DELIVERY } from "../../shared/domain/lifecycle.ts";
import { WEBHOOK } from "../../shared/domain/limits.ts";
import { concurrently } from "../../shared/platform/concurrently.ts";
import { newestDeliveries, reopen } from "../../shared/records/deliveries.ts";
import { logEvent } from "../../shared/records/events.ts";
import { announceWebhook } from "../../shared/records/outbox.ts";
import { requireWebhook, requireEnabled, requireSubscribable, webhookRef } from "../../shared/records/webhooks.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

const AT_ONCE = 50;

export const handler = handle(webhooks.redeliverFailed)(async ({ params, body, caller, by, read, commit }) => {
  const { change, ...records } = await beginChange({ caller, read }, { webhook: webhookRef(caller.account_id, params.id) });
  const webhook = requireWebhook(records.webhook);
  requireSubscribable(caller, webhook.events);
  requireEnabled(webhook);
  const all = await newestDeliveries(caller.account_id, webhook.id);
  const failed = all.filter(({ status, created_at }) => status === DELIVERY.failed && created_at >= body.since);
  let count = 0;
  await concurrently(AT_ONCE, failed.toReversed().slice(0, WEBHOOK.redeliveredMax), async (delivery) => {
    if ((await reopen(delivery)) !== undefined) count++;
  });
  announceWebhook(change, webhook.id);
  logEvent(change, by, "webhook.redeliver", { type: "webhook", id: webhook.id, name: webhook.name });
  return commit(change, { count });
});
