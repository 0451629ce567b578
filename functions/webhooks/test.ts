// POST /webhooks/:id/test
import { tooManyTests } from "../../shared/api/errors.ts";
import * as webhooks from "../../shared/api/webhooks.ts";
import { tryOnce } from "../../shared/runtime/deliver.ts";
import { deliveryFor, reserveDelivery } from "../../shared/records/deliveries.ts";
import { logEvent } from "../../shared/records/events.ts";
import {
  presentWebhook,
  requireEnabled,
  requireSubscribable,
  secondsToNextTest,
  webhookRef,
} from "../../shared/records/webhooks.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(webhooks.test)(async ({ params, caller, by, read, commit }) => {
  const { change, ...records } = await beginChange({ caller, read }, { webhook: webhookRef(caller.account_id, params.id) });
  const webhook = presentWebhook(records.webhook);
  requireSubscribable(caller, webhook.events);
  requireEnabled(webhook);
  const seconds = await secondsToNextTest(webhook);
  if (seconds !== undefined) throw tooManyTests(seconds);
  const event = logEvent(change, by, "webhook.test", { type: "webhook", id: webhook.id, name: webhook.name });
  await commit(change, deliveryFor(webhook, event));
  const delivery = await reserveDelivery(webhook, event, { queued: false });
  return (await tryOnce(webhook, delivery, { once: true })).delivery;
});
