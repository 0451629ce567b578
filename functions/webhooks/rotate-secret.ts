// POST /webhooks/:id/rotate-secret
import * as webhooks from "../../shared/api/webhooks.ts";
import { logEvent } from "../../shared/records/events.ts";
import {
  healthRef,
  requireWebhook,
  requireSecret,
  requireSubscribable,
  requireSubscribed,
  rotate,
  toWebhook,
  webhookRef,
} from "../../shared/records/webhooks.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(webhooks.rotateSecret)(async ({ params, caller, by, read, commit }) => {
  await requireSubscribed(caller, params.id);
  const { change, health, ...records } = await beginChange(
    { caller, read },
    { webhook: webhookRef(caller.account_id, params.id), health: healthRef(caller.account_id, params.id) },
  );
  const before = requireWebhook(records.webhook);
  requireSubscribable(caller, before.events);
  requireSecret(before);
  const { webhook, secret } = await rotate(change, before);
  logEvent(
    change,
    by,
    { type: "webhook.rotate_secret", changes: [{ field: "secret" }] },
    { type: "webhook", id: webhook.id, name: webhook.name },
  );
  return commit(change, { ...toWebhook(webhook, health), secret });
});
