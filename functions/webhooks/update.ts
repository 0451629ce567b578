// PUT /webhooks/:id
import * as webhooks from "../../shared/api/webhooks.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { requireTarget } from "../../shared/operations/events/receivers.ts";
import { changesBetween } from "../../shared/records/audit-changes.ts";
import { logEvent } from "../../shared/records/events.ts";
import {
  editWebhook,
  healthRef,
  isShownUrl,
  requireWebhook,
  requireSubscribable,
  requireSubscribed,
  toWebhook,
  webhookRef,
  webhookVersion,
} from "../../shared/records/webhooks.ts";
import { announceWebhook } from "../../shared/records/outbox.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(webhooks.update)(async ({ params, body, caller, by, host, read, commit, match }) => {
  requireSubscribable(caller, body.events ?? []);
  await requireSubscribed(caller, params.id);
  return retryOnConflict(async () => {
    const { change, health, ...records } = await beginChange(
      { caller, read },
      { webhook: webhookRef(caller.account_id, params.id), health: healthRef(caller.account_id, params.id) },
    );
    const webhook = requireWebhook(records.webhook);
    requireSubscribable(caller, webhook.events);
    match(change, webhookVersion(webhook));
    const { url: sentUrl, ...rest } = body;
    const url = sentUrl !== undefined && isShownUrl(webhook, sentUrl) ? undefined : sentUrl;
    if (url !== undefined) await requireTarget(url, host);
    const edited = await editWebhook(change, caller, webhook, { ...rest, url });
    const changes = changesBetween(webhook, edited, Object.keys(body));
    logEvent(change, by, { type: "webhook.update", changes }, { type: "webhook", id: edited.id, name: edited.name });
    if (body.enabled === true && !webhook.enabled) announceWebhook(change, webhook.id);
    return commit(change, toWebhook(edited, health));
  });
});
