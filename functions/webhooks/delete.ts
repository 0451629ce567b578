// DELETE /webhooks/:id
import * as webhooks from "../../shared/api/webhooks.ts";
import { logEvent } from "../../shared/records/events.ts";
import { requireWebhook, removeWebhook, requireSubscribable, webhookRef, webhookVersion } from "../../shared/records/webhooks.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(webhooks.delete)(async ({ params, caller, by, read, commit, match }) => {
  const { change, ...records } = await beginChange({ caller, read }, { webhook: webhookRef(caller.account_id, params.id) });
  const webhook = requireWebhook(records.webhook);
  requireSubscribable(caller, webhook.events);
  match(change, webhookVersion(webhook));
  removeWebhook(change, webhook);
  logEvent(change, by, "webhook.delete", { type: "webhook", id: webhook.id, name: webhook.name });
  return commit(change, { id: webhook.id, deleted: true });
});
