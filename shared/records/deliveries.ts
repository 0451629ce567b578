// Deliveries of events to webhooks: each in an item of its own, with an item in its webhook's queue for as long as there is a try
// to make.
import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import * as z from "zod";
import { notFound } from "../api/errors.ts";
import type { Try } from "../api/webhooks.ts";
import { keys } from "../data/keys.ts";
import { type ByIds, type Listed, type PageQuery, isCreatedIn, pageByIds, slicePage } from "../data/pages.ts";
import { parseEach } from "../data/parse-each.ts";
import { find, query, readAll, type Ref, removeOne, updateOne } from "../data/table.ts";
import { idFrom, isId } from "../domain/ids.ts";
import { DELIVERY } from "../domain/lifecycle.ts";
import { WEBHOOK } from "../domain/limits.ts";
import type { EventRecord } from "./schemas/event.ts";
import { DeliveryRecord, type WebhookRecord } from "./schemas/webhook.ts";
import { DAY_SECONDS } from "../domain/durations.ts";
import { ttlAfter } from "../data/ttl.ts";

/** One of the three queues of a webhook: one delivery at a time in each. */
export interface Lane {
  account_id: string;
  webhook_id: string;
  lane: number;
}

export const LANES = 3;

/** Always the same of a delivery. */
export const laneNumber = (deliveryId: string): number =>
  (deliveryId.charCodeAt(deliveryId.length - 1) + deliveryId.charCodeAt(deliveryId.length - 2)) % LANES;
export const chooseLane = ({ account_id, webhook_id, id }: DeliveryRecord): Lane => ({
  account_id,
  webhook_id,
  lane: laneNumber(id),
});

export const deliveryRef = (accountId: string, webhookId: string, id: string): Ref<DeliveryRecord> => ({
  key: keys.delivery(accountId, webhookId, id),
  schema: DeliveryRecord,
});

const ttl = (): number => ttlAfter(WEBHOOK.deliveryDays * DAY_SECONDS);

/** An event has one delivery per webhook, however often it is recorded: the ID follows from both. */
function deliveryId(webhookId: string, { id, created_at }: EventRecord): string {
  const digest = createHash("sha256").update(`${webhookId} ${id}`).digest();
  return idFrom("delivery", Date.parse(created_at), digest.subarray(0, 10));
}

/** A delivery as it begins; `queued` for a try as soon as possible. */
export function deliveryFor(
  { account_id, id: webhook_id }: WebhookRecord,
  event: EventRecord,
  { queued = false }: { queued?: boolean } = {},
): DeliveryRecord {
  return {
    id: deliveryId(webhook_id, event),
    account_id,
    webhook_id,
    event_id: event.id,
    event_type: event.type,
    status: DELIVERY.pending,
    tries: [],
    next_try_at: queued ? new Date().toISOString() : null,
    attempt: 0,
    created_at: event.created_at,
    ttl: ttl(),
  };
}

/** Records the delivery of an event, with its entry in the queue, unless it is recorded already. */
export async function reserveDelivery(
  webhook: WebhookRecord,
  event: EventRecord,
  { queued = true }: { queued?: boolean } = {},
): Promise<DeliveryRecord> {
  const delivery = deliveryFor(webhook, event, { queued });
  const key = keys.delivery(delivery.account_id, delivery.webhook_id, delivery.id);
  const { done, item } = await updateOne(key, { set: { ...delivery } }, { exists: false, none: ["created_at"] });
  const stored = done || item === undefined ? delivery : DeliveryRecord.parse(item);
  if (stored.status === DELIVERY.pending && stored.next_try_at !== null) await enqueue(stored, stored.next_try_at);
  return stored;
}

const Queued = z.object({ sk: z.string(), delivery_id: z.string(), event_id: z.string() });
export type Queued = z.infer<typeof Queued>;

export const enqueue = async ({ account_id, webhook_id, id, event_id }: DeliveryRecord, at: string): Promise<void> =>
  void (await updateOne(
    keys.due(account_id, webhook_id, at, id),
    { set: { delivery_id: id, event_id, ttl: ttl() } },
    { exists: false },
  ));

export const dequeue = ({ account_id, webhook_id }: Omit<Lane, "lane">, { sk }: Pick<Queued, "sk">): Promise<void> =>
  removeOne({ pk: keys.dues(account_id, webhook_id), sk });

/** Moves an entry of the queue to a later time. */
export async function postpone({ account_id, webhook_id }: Omit<Lane, "lane">, queued: Queued, at: string): Promise<void> {
  const { delivery_id, event_id } = queued;
  await updateOne(
    keys.due(account_id, webhook_id, at, delivery_id),
    { set: { delivery_id, event_id, ttl: ttl() } },
    { exists: false },
  );
  await dequeue({ account_id, webhook_id }, queued);
}

const QUEUE_READ = 100;

/** What a webhook's queue has due, the oldest first. */
export async function dueNow({ account_id, webhook_id }: Omit<Lane, "lane">, limit = QUEUE_READ): Promise<Queued[]> {
  const { items } = await query({
    KeyConditionExpression: "pk = :pk AND sk < :now",
    ExpressionAttributeValues: { ":pk": keys.dues(account_id, webhook_id), ":now": new Date().toISOString() },
    ConsistentRead: true,
    Limit: limit,
  });
  return parseEach(Queued, items);
}

const Body = z.object({ body: z.instanceof(Uint8Array) });

/** The bytes of every try: those that were stored first. */
export async function storedBody(
  { account_id, webhook_id, id }: DeliveryRecord,
  prepare: () => Promise<string>,
): Promise<Uint8Array> {
  const key = keys.deliveryBody(account_id, webhook_id, id);
  const stored = await find({ key, schema: Body });
  if (stored !== undefined) return inflateRawSync(stored.body);
  const body = deflateRawSync(Buffer.from(await prepare()));
  const { item } = await updateOne(key, { fill: { body, ttl: ttl() } }, { exists: false });
  return inflateRawSync(item === undefined ? body : Body.parse(item).body);
}

/** Records a try, unless another run has recorded one since the delivery was read. */
export async function recordTry(
  delivery: DeliveryRecord,
  tryRecord: Try,
  next: { status: DeliveryRecord["status"]; next_try_at: string | null },
): Promise<boolean> {
  const { account_id, webhook_id, id, attempt } = delivery;
  const tries = [...delivery.tries.map(shortenExcerpt), tryRecord].slice(-TRIES_KEPT);
  const set = { ...next, tries, attempt: attempt + 1 };
  const { done } = await updateOne(
    keys.delivery(account_id, webhook_id, id),
    { set },
    { equals: { status: DELIVERY.pending, attempt } },
  );
  return done;
}

const TRIES_KEPT = 40;
const EARLIER_EXCERPT = 200;
const shortenExcerpt = (earlier: Try): Try => ({
  ...earlier,
  response_excerpt: earlier.response_excerpt?.slice(0, EARLIER_EXCERPT) ?? null,
});

/** Puts a delivery that has ended back into the queue; false if it is pending, or has changed since it was read. */
export async function reopen(delivery: DeliveryRecord): Promise<DeliveryRecord | undefined> {
  const next_try_at = new Date().toISOString();
  const { account_id, webhook_id, id, status, attempt } = delivery;
  // The queue is written first: a position there without work is removed, and work without a position would wait for ever.
  await enqueue(delivery, next_try_at);
  const set = { status: DELIVERY.pending, next_try_at, attempt: 0 } as const;
  const where = { equals: { status, attempt }, oneOf: { status: [DELIVERY.delivered, DELIVERY.failed] } };
  const { done } = await updateOne(keys.delivery(account_id, webhook_id, id), { set }, where);
  if (!done) return undefined;
  await enqueue(delivery, next_try_at); // a run may have removed the entry before there was work for it
  return { ...delivery, ...set };
}

export async function getDelivery(accountId: string, webhookId: string, id: string): Promise<DeliveryRecord> {
  const delivery = isId("delivery", id) ? await find(deliveryRef(accountId, webhookId, id)) : undefined;
  if (delivery === undefined || isExpired(delivery)) throw notFound("delivery");
  return delivery;
}

/** DynamoDB removes it within days. */
const isExpired = ({ ttl: ends }: DeliveryRecord): boolean => ends * 1000 <= Date.now();

interface Filters {
  status?: string | undefined;
  event_type?: string | undefined;
}

export async function listDeliveries(
  accountId: string,
  webhookId: string,
  { ids, status, event_type, ...page }: PageQuery & ByIds & Filters,
): Promise<Listed<DeliveryRecord>> {
  if (ids !== undefined) {
    const items = await readAll(ids.map((id) => keys.delivery(accountId, webhookId, id)));
    return pageByIds(
      parseEach(DeliveryRecord, [...items.values()]).filter((each) => !isExpired(each)),
      ids,
    );
  }
  const isWithin = isCreatedIn(page);
  const all = (await newestDeliveries(accountId, webhookId)).filter(
    (each) => isWithin(each) && each.status === (status ?? each.status) && each.event_type === (event_type ?? each.event_type),
  );
  const placed = all.map((value) => ({ value, sortKey: value.id }));
  return slicePage(placed, page, `delivery:${webhookId}:${status ?? ""}:${event_type ?? ""}`);
}

/** Returns the newest deliveries: at most so many that a request can read them. */
export async function newestDeliveries(accountId: string, webhookId: string): Promise<DeliveryRecord[]> {
  const deliveries: DeliveryRecord[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const { items, more } = await query({
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": keys.deliveries(accountId, webhookId) },
      ScanIndexForward: false,
      ConsistentRead: true,
      ...(start !== undefined && { ExclusiveStartKey: start }),
    });
    deliveries.push(...parseEach(DeliveryRecord, items).filter((each) => !isExpired(each)));
    start = more;
  } while (start !== undefined && deliveries.length < WEBHOOK.listedMax);
  return deliveries.slice(0, WEBHOOK.listedMax);
}

const Lease = z.object({ until: z.number() });

/** Takes a lane for so long; false if another run has it. */
export async function takeLane({ account_id, webhook_id, lane }: Lane, seconds: number): Promise<number | undefined> {
  const at = Date.now();
  const until = at + seconds * 1000;
  const key = keys.webhookLane(account_id, webhook_id, lane);
  const { done } = await updateOne(key, { set: { until } }, { exists: false, below: { until: at } });
  return done ? until : undefined;
}

export const releaseLane = async ({ account_id, webhook_id, lane }: Lane, until: number): Promise<void> =>
  void (await updateOne(
    keys.webhookLane(account_id, webhook_id, lane),
    { set: { until: 0 } },
    { equals: { until } satisfies z.infer<typeof Lease> },
  ));
