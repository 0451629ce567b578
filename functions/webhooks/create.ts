// POST /webhooks
import * as webhooks from "../../shared/api/webhooks.ts";
import { requireTarget } from "../../shared/operations/events/receivers.ts";
import { logEvent } from "../../shared/records/events.ts";
import { requireSubscribable, reserveWebhook, toWebhook } from "../../shared/records/webhooks.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(webhooks.create)(async ({ body, caller, by, host, read, commit }) => {
  requireSubscribable(caller, body.events);
  const { change } = await beginChange({ caller, read }, {});
  await requireTarget(body.url, host);
  const { webhook, secret } = await reserveWebhook(change, caller, body);
  logEvent(change, by, "webhook.create", { type: "webhook", id: webhook.id, name: webhook.name });
  return commit(change, { ...toWebhook(webhook), secret });
});
