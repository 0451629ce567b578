// POST /webhooks/:id/test
import { tooManyTests } from "../../shared/api/errors.ts";
import * as webhooks from "../../shared/api/webhooks.ts";
import { tryTest } from "../../shared/runtime/deliver.ts";
import { deliveryRef } from "../../shared/records/deliveries.ts";
import { logEvent } from "../../shared/records/events.ts";
import {
  requireWebhook,
  requireEnabled,
  requireSubscribable,
  secondsToNextTest,
  webhookRef,
} from "../../shared/records/webhooks.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(webhooks.test)(async ({ params, caller, by, read, commit }) => {
  const { change, ...records } = await beginChange({ caller, read }, { webhook: webhookRef(caller.account_id, params.id) });
  const webhook = requireWebhook(records.webhook);
  requireSubscribable(caller, webhook.events);
  requireEnabled(webhook);
  const seconds = await secondsToNextTest(webhook);
  if (seconds !== undefined) throw tooManyTests(seconds);
  const event = logEvent(change, by, "webhook.test", { type: "webhook", id: webhook.id, name: webhook.name });
  const delivery = await tryTest(webhook, event);
  change.put(deliveryRef(webhook.account_id, webhook.id, delivery.id).key, delivery);
  return commit(change, delivery);
});
