// Items of the outbox, which a change writes in its own transaction for what must follow it.
import { OUTBOX_SHARDS } from "../data/codes.ts";
import type { Change } from "../data/change.ts";
import { type EventKind, keys } from "../data/keys.ts";
import { newId } from "../domain/ids.ts";

/** Chooses a shard by the last character of an ID, which is random. */
const shardOf = (id: string): number => id.charCodeAt(id.length - 1) % OUTBOX_SHARDS;

/** An event that webhooks may subscribe to, that may be told by mail, and that may open or close an alert. */
export const announceEvent = (change: Change, kind: EventKind, { id, type }: { id: string; type: string }): void =>
  change.put(keys.outbox(shardOf(id), id), { account_id: change.accountId, event_id: id, kind, type });

/** A webhook whose queue has something to do. */
export function announceWebhook(change: Change, webhookId: string): void {
  const id = newId("event");
  change.put(keys.outbox(shardOf(id), id), { account_id: change.accountId, webhook_id: webhookId });
}
