// The outbox: items that changes write with their events, and that become deliveries and mails. An item stays until these are
// recorded, so that none is lost; their IDs follow from the event, so that a second run has no further effect.
import * as z from "zod";
import { keys, keyString, type EventKind } from "../../data/keys.ts";
import { parseEach } from "../../data/parse-each.ts";
import { query, readAll, removeOne } from "../../data/table.ts";
import { readAlerts } from "../monitoring/alerts.ts";
import { concernsAlerts, followEvent } from "../monitoring/event-alerts.ts";
import { isSubscribed } from "../../api/subscriptions.ts";
import { permissionForEvent } from "../../api/event-permissions.ts";
import { concurrently } from "../../platform/concurrently.ts";
import { EventRecord } from "../../records/schemas/event.ts";
import type { WebhookRecord } from "../../records/schemas/webhook.ts";
import { actingPermissions, allWebhooks, disableWebhook } from "../../records/webhooks.ts";
import { type Lane, chooseLane, reserveDelivery } from "../../records/deliveries.ts";
import { OUTBOX_SHARDS } from "../../data/codes.ts";
import { isMailed, mailEvents } from "./event-mails.ts";

const Entry = z.object({
  pk: z.string(),
  sk: z.string(),
  account_id: z.string(),
  /** An event to deliver. */
  event_id: z.string().optional(),
  kind: z.enum(["event", "outcome"]).default("event"),
  /** The event's type; items of earlier versions have none. */
  type: z.string().default(""),
  /** A webhook with something to do, instead of an event. */
  webhook_id: z.string().optional(),
});
type Entry = z.infer<typeof Entry>;

/** The oldest of each shard. */
const READ_AT_ONCE = 200;
const AT_ONCE = 10;

/** The outbox as it is now, at most so much of it as one run can forward. */
export async function readOutbox(): Promise<Entry[]> {
  const shards = await Promise.all(
    Array.from({ length: OUTBOX_SHARDS }, (_, shard) =>
      query({
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": keys.outboxShard(shard) },
        ConsistentRead: true,
        Limit: READ_AT_ONCE,
      }),
    ),
  );
  return shards.flatMap(({ items }) => parseEach(Entry, items));
}

export const readEntries = async (entryKeys: readonly { pk: string; sk: string }[]): Promise<Entry[]> =>
  parseEach(Entry, [...(await readAll(entryKeys)).values()]);

/** Records the deliveries of all entries, and removes them. Returns the lanes that have something to do. */
export async function forwardEntries(entries: readonly Entry[]): Promise<Lane[]> {
  const lanes = new Map<string, Lane>();
  const add = (lane: Lane): void => void lanes.set(`${lane.webhook_id} ${lane.lane}`, lane);
  const accounts = Object.entries(Object.groupBy(entries, ({ account_id }) => account_id));
  await concurrently(AT_ONCE, accounts, async ([accountId, ofAccount = []]) => {
    const webhooks = (await allWebhooks(accountId)).filter(({ enabled }) => enabled);
    const followed = ofAccount.filter(({ event_id, type }) => event_id !== undefined && concernsAlerts(type));
    const events = await readEvents(webhooks.length === 0 ? followed : ofAccount);
    if (followed.length > 0) await followEvents(accountId, events);
    for (const webhook of webhooks) {
      const subscribed = events.filter((event) => isSubscribed(webhook.events, event.type) && shouldReceive(webhook, event));
      const readable = subscribed.length === 0 ? [] : await filterReadable(webhook, subscribed);
      await concurrently(AT_ONCE, readable, async (event) => add(chooseLane(await reserveDelivery(webhook, event))));
    }
    // Most events are told to nobody by mail, so that they need not be read.
    const mailed = ofAccount.filter(({ type }) => isMailed(type));
    if (mailed.length > 0) await mailEvents(accountId, await readEvents(mailed));
    for (const { webhook_id } of ofAccount)
      if (webhook_id !== undefined) for (const lane of [0, 1, 2]) add({ account_id: accountId, webhook_id, lane });
    await concurrently(AT_ONCE, ofAccount, ({ pk, sk }) => removeOne({ pk, sk }));
  });
  return [...lanes.values()];
}

/** One after the other, in their order: a success closes the alert of a failure before it. */
async function followEvents(accountId: string, events: readonly EventRecord[]): Promise<void> {
  const alerts = await readAlerts(accountId);
  const inOrder = events.filter(({ type }) => concernsAlerts(type)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (const event of inOrder) await followEvent(alerts, event);
}

/** The events that the user or token for whom a webhook acts may read. Once they are removed, the webhook stops. */
async function filterReadable(webhook: WebhookRecord, events: readonly EventRecord[]): Promise<EventRecord[]> {
  const permissions = await actingPermissions(webhook);
  if (permissions === undefined) await disableWebhook(webhook, "credential");
  return events.filter(({ type, resource }) => permissions?.includes(permissionForEvent(type, resource.type)) === true);
}

/** A webhook gets neither what happened before it was created, nor its own tests. */
const shouldReceive = ({ created_at }: WebhookRecord, event: EventRecord): boolean =>
  event.created_at >= created_at && event.type !== "webhook.test";

/** Reads the events without those that were withdrawn with the request that wrote them. */
async function readEvents(entries: readonly Entry[]): Promise<EventRecord[]> {
  const entryKeys = entries.flatMap(({ account_id, event_id, kind }) =>
    event_id === undefined ? [] : [keys.record(kind satisfies EventKind, account_id, event_id)],
  );
  const items = await readAll(entryKeys);
  return parseEach(
    EventRecord,
    entryKeys.map((key) => items.get(keyString(key))).filter((item) => item !== undefined),
  );
}
