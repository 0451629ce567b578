// Sends what a webhook's queue has due: one run for each of its lanes, so that at most three deliveries of a webhook are sent at
// a time.
import { setTimeout as sleep } from "node:timers/promises";
import { sandboxReceiver } from "../operations/events/sandbox-receivers.ts";
import type { Try } from "../api/webhooks.ts";
import { now } from "../data/change.ts";
import { find, updateOne } from "../data/table.ts";
import { keys } from "../data/keys.ts";
import { DELIVERY, type DeliveryStatus } from "../domain/lifecycle.ts";
import { WEBHOOK } from "../domain/limits.ts";
import { type ReceiverReason, receiverReason, receiverReasonInEnglish } from "../domain/receiver-reasons.ts";
import { log } from "../platform/log.ts";
import { OutboundError, request, type Response } from "../platform/outbound.ts";
import { signatureHeaders } from "../platform/standard-webhooks.ts";
import {
  deliveryFor,
  deliveryRef,
  dequeue,
  dueNow,
  enqueue,
  postpone,
  type Lane,
  laneNumber,
  LANES,
  type Queued,
  recordTry,
  releaseLane,
  storedBody,
  takeLane,
} from "../records/deliveries.ts";
import { EventRecord } from "../records/schemas/event.ts";
import type { DeliveryRecord, WebhookRecord } from "../records/schemas/webhook.ts";
import {
  actingPermissions,
  allWebhooks,
  disableIfFailing,
  disableWebhook,
  healthRef,
  openSecrets,
  openUrl,
  webhookRef,
} from "../records/webhooks.ts";
import { bodyFor } from "./webhook-body.ts";
import { isSlow, SLOW_AFTER, receiverGuard } from "../operations/events/receivers.ts";
import { claimChatMessage } from "../operations/events/chat-pace.ts";
import { MINUTE_MS } from "../domain/durations.ts";

/** A run begins no try later than this; one that has begun takes up to 10 s more. */
const BEGIN_SECONDS = 40;
const LEASE_SECONDS = 60;

export interface LaneRun {
  /** There is more to do at once. */
  more: boolean;
  /** Seconds until the next try of what failed, if somebody must come back sooner than the next sweep. */
  again: number | undefined;
}

/** Works through a lane. Nothing if another run has it. */
export async function runLane(lane: Lane): Promise<LaneRun> {
  const lease = await takeLane(lane, LEASE_SECONDS);
  if (lease === undefined) return { more: false, again: undefined };
  const until = Date.now() + BEGIN_SECONDS * 1000;
  let again: number | undefined;
  try {
    for (let batch = await readDue(lane); batch.length > 0 && Date.now() < until; batch = await readDue(lane)) {
      for (const queued of batch) {
        if (Date.now() >= until) break;
        const seconds = await attemptOrPostpone(lane, queued);
        if (seconds !== undefined) again = Math.min(again ?? seconds, seconds);
      }
    }
  } finally {
    await releaseLane(lane, lease);
  }
  // This includes what came while the lane was still ours, for which another run was turned away.
  return { more: (await readDue(lane)).length > 0, again };
}

/** What is due in a lane. A slow receiver has only the first one, which then has everything. */
async function readDue(lane: Lane): Promise<Queued[]> {
  const { account_id, webhook_id } = lane;
  const webhook = await find(webhookRef(account_id, webhook_id));
  if (webhook !== undefined && !webhook.enabled) return [];
  const slow = isSlow(await find(healthRef(account_id, webhook_id)));
  if (slow && lane.lane !== 0) return [];
  const due = await dueNow(lane, WEBHOOK.queueRead);
  return slow ? due : due.filter(({ delivery_id }) => laneNumber(delivery_id) === lane.lane);
}

const POSTPONED_MS = 5 * MINUTE_MS;

/** An error of the service itself must not hold up the rest of the lane. */
async function attemptOrPostpone(lane: Lane, queued: Queued): Promise<number | undefined> {
  try {
    return await attemptOne(lane, queued);
  } catch (error) {
    log.error("a delivery could not be tried", { ...lane, delivery: queued.delivery_id, error });
    await postpone(lane, queued, new Date(Date.now() + POSTPONED_MS).toISOString());
    return undefined;
  }
}

/** One try of one delivery. Returns in how many seconds the next one is, if that is soon. */
async function attemptOne(lane: Lane, queued: Queued): Promise<number | undefined> {
  const { account_id, webhook_id } = lane;
  const [webhook, delivery] = await Promise.all([
    find(webhookRef(account_id, webhook_id)),
    find(deliveryRef(account_id, webhook_id, queued.delivery_id)),
  ]);
  if (webhook === undefined || delivery === undefined || delivery.status !== DELIVERY.pending) {
    await dequeue(lane, queued);
    return undefined;
  }
  if (!webhook.enabled) return undefined;
  const { next_try_at } = delivery;
  if (next_try_at !== null && next_try_at > now()) {
    // A run was killed after it had recorded its try.
    await enqueue(delivery, next_try_at);
    await dequeue(lane, queued);
    return undefined;
  }
  const began = Date.now();
  const next = await tryNext(webhook, delivery);
  if (next !== null) await enqueue(delivery, next);
  await dequeue(lane, queued);
  await pace(webhook, began);
  return next === null ? undefined : Math.max(0, (Date.parse(next) - Date.now()) / 1000);
}

/**
 * An account sends at most ten requests a second to a host: its webhooks with that host, and their lanes, share them.
 */
async function pace(webhook: WebhookRecord, began: number): Promise<void> {
  const host = new URL(webhook.url).host;
  const sharing = (await allWebhooks(webhook.account_id)).filter(({ url }) => new URL(url).host === host).length;
  const pause = (1000 * LANES * Math.max(1, sharing)) / WEBHOOK.requestsASecond - (Date.now() - began);
  if (pause > 0) await sleep(pause);
}

/** A try, and what follows from it. */
interface TryResult {
  tryRecord: Try;
  outcome: Outcome;
  succeeded: boolean;
  status: DeliveryStatus;
  /** The time of the next try. */
  next_try_at: string | null;
}

/** Makes the next try of a delivery, and records it. Returns when the one after it is. */
async function tryNext(webhook: WebhookRecord, delivery: DeliveryRecord): Promise<string | null> {
  const tried = await makeTry(webhook, delivery, await findEvent(webhook.account_id, delivery));
  const { tryRecord, status, next_try_at } = tried;
  const isRecorded = await recordTry(delivery, tryRecord, { status, next_try_at });
  if (!isRecorded) return null; // another run, of a lease that had ended
  await applyOutcome(webhook, tried);
  return next_try_at;
}

/** The one try of a test. It is the caller's to record, with the event. */
export async function tryTest(webhook: WebhookRecord, event: EventRecord): Promise<DeliveryRecord> {
  const delivery = deliveryFor(webhook, event);
  const tried = await makeTry(webhook, delivery, event, { isTest: true });
  await applyOutcome(webhook, tried);
  return { ...delivery, status: tried.status, tries: [tried.tryRecord], attempt: 1 };
}

/** A test is tried once. */
async function makeTry(
  webhook: WebhookRecord,
  delivery: DeliveryRecord,
  event: EventRecord | undefined,
  { isTest = false }: { isTest?: boolean } = {},
): Promise<TryResult> {
  const at = Date.now();
  const outcome = await send(webhook, delivery, event, { at, isTest });
  const tryRecord: Try = {
    at: new Date(at).toISOString(),
    duration_ms: Date.now() - at,
    http_status: outcome.status ?? null,
    error: outcome.reason === undefined ? null : receiverReasonInEnglish(outcome.reason),
    reason: outcome.reason ?? null,
    response_excerpt: outcome.excerpt === undefined || outcome.excerpt === "" ? null : outcome.excerpt,
  };
  const succeeded =
    outcome.suppressed === true || (outcome.status !== undefined && outcome.status >= 200 && outcome.status < 300);
  const pause = succeeded || isTest || outcome.status === 410 ? undefined : pauseBefore(delivery.attempt, outcome);
  const status = succeeded ? DELIVERY.delivered : pause === undefined ? DELIVERY.failed : DELIVERY.pending;
  const next_try_at = pause === undefined ? null : new Date(Date.now() + pause * 1000).toISOString();
  return { tryRecord, outcome, succeeded, status, next_try_at };
}

async function applyOutcome(webhook: WebhookRecord, { outcome, succeeded }: TryResult): Promise<void> {
  if (!outcome.suppressed) await recordHealth(webhook, succeeded, outcome);
  if (outcome.status === 410) await disableWebhook(webhook, "gone");
}

interface Outcome extends Partial<Response> {
  reason?: ReceiverReason;
  timedOut?: boolean;
  /** Part of a later message of a chat. */
  suppressed?: boolean;
}

async function send(
  webhook: WebhookRecord,
  delivery: DeliveryRecord,
  event: EventRecord | undefined,
  { at, isTest }: { at: number; isTest: boolean },
): Promise<Outcome> {
  const { account_id } = webhook;
  const permissions = await actingPermissions(webhook);
  if (permissions === undefined) {
    await disableWebhook(webhook, "credential");
    return { reason: receiverReason("delivery_not_allowed") };
  }
  if (event === undefined) return { reason: receiverReason("delivery_event_gone") };
  // Tests and redeliveries are always sent, as somebody waits for them; a later try repeats the message of the first one.
  const isPaced = webhook.format !== "json" && !isTest && delivery.tries.length === 0;
  const also = isPaced ? await claimChatMessage(webhook, event) : 0;
  if (also === undefined) return { suppressed: true, reason: receiverReason("delivery_joined") };
  const body = await storedBody(delivery, () => bodyFor(webhook, event, permissions, also));
  const signed = signatureHeaders(await openSecrets(webhook, at), { id: event.id, at, body });
  const headers = {
    "content-type": "application/json",
    "user-agent": "erp-control-plane-webhooks/1",
    ...(webhook.format === "json" && signed),
  };
  const url = await openUrl(webhook);
  try {
    const standIn = sandboxReceiver(url, delivery.tries.length);
    if (standIn !== undefined) return standIn;
    return await request(
      { url, headers, body, timeoutMs: WEBHOOK.timeoutSeconds * 1000, keepBytes: WEBHOOK.excerptBytes },
      receiverGuard(),
    );
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    log.info("a delivery failed", { account: account_id, webhook: webhook.id, delivery: delivery.id });
    return { reason: error.reason, timedOut: error.timedOut };
  }
}

async function findEvent(accountId: string, { event_id }: DeliveryRecord): Promise<EventRecord | undefined> {
  for (const kind of ["outcome", "event"] as const) {
    const event = await find({ key: keys.record(kind, accountId, event_id), schema: EventRecord });
    if (event !== undefined) return event;
  }
  return undefined;
}

/** Seconds before the next try, spread by a fifth; undefined after the last. */
function pauseBefore(attempt: number, { status, retryAfter }: Outcome): number | undefined {
  const pause = WEBHOOK.retrySeconds[attempt];
  if (pause === undefined) return undefined;
  const obeys = (status === 429 || status === 503) && retryAfter !== undefined && retryAfter <= WEBHOOK.retryAfterMaxSeconds;
  return obeys ? Math.max(1, retryAfter) : pause * (0.8 + 0.4 * Math.random());
}

const NOTED_MS = MINUTE_MS;

/** Writes only what is new: most deliveries succeed like the one before. */
async function recordHealth(webhook: WebhookRecord, succeeded: boolean, { timedOut = false }: Outcome): Promise<void> {
  const { account_id, id } = webhook;
  const ref = healthRef(account_id, id);
  const health = await find(ref);
  const at = now();
  const timeouts = timedOut ? Math.min(SLOW_AFTER, (health?.timeouts ?? 0) + 1) : 0;
  const failing_since = succeeded ? null : (health?.failing_since ?? at);
  const isNews = health === undefined || health.timeouts !== timeouts || health.failing_since !== failing_since;
  const isOld = Date.parse(health?.last_delivery_at ?? "1970-01-01") < Date.now() - NOTED_MS;
  if (isNews || isOld) await updateOne(ref.key, { set: { timeouts, failing_since, last_delivery_at: at } }, { exists: false });
  await disableIfFailing(webhook, { tests: [], timeouts, failing_since, last_delivery_at: at });
}
