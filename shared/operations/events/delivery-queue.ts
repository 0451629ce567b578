// The queue between what is to be delivered and the function that delivers: a message names a lane of a webhook that has
// something due.
import { readAll } from "../../data/table.ts";
import { concurrently } from "../../platform/concurrently.ts";
import { variable } from "../../platform/env.ts";
import { dueNow, type Lane, laneNumber } from "../../records/deliveries.ts";
import { WebhookHealth } from "../../records/schemas/webhook.ts";
import { healthRef, listedWebhooks } from "../../records/webhooks.ts";
import { isSlow } from "./receivers.ts";
import { DELAY_SECONDS_MAX, sendMessages } from "./send-messages.ts";

/**
 * Queues lanes that have something to do, now or soon. Those of slow receivers have a queue of their own, so that they take no
 * place from others.
 */
export async function sendLanes(lanes: readonly Lane[], delaySeconds = 0): Promise<void> {
  if (lanes.length === 0 || delaySeconds > DELAY_SECONDS_MAX) return;
  const health = await readAll([
    ...new Map(lanes.map((each) => [each.webhook_id, healthRef(each.account_id, each.webhook_id).key])).values(),
  ]);
  const slow = new Set([...health.values()].filter((item) => isSlow(WebhookHealth.parse(item))).map(({ sk }) => String(sk)));
  const [fast, late] = [
    lanes.filter(({ webhook_id }) => !slow.has(webhook_id)),
    lanes.filter(({ webhook_id }) => slow.has(webhook_id)),
  ];
  const messagesFor = (each: readonly Lane[]) => each.map((body) => ({ body, delaySeconds }));
  await sendMessages(variable("DELIVERIES_QUEUE"), messagesFor(fast));
  // Whichever lane a delivery belongs to, the first one sends it.
  const firsts = new Map(late.map((each) => [each.webhook_id, { ...each, lane: 0 }]));
  await sendMessages(variable("SLOW_QUEUE"), messagesFor([...firsts.values()]));
}

const AT_ONCE = 50;

/** The lanes of all webhooks that have something due. */
export async function lanesDue(): Promise<Lane[]> {
  const lanes: Lane[] = [];
  await concurrently(AT_ONCE, await listedWebhooks(), async (webhook) => {
    const due = await dueNow(webhook, LOOKED_AT);
    for (const lane of new Set(due.map(({ delivery_id }) => laneNumber(delivery_id)))) lanes.push({ ...webhook, lane });
  });
  return lanes;
}

/** Enough to find one of each lane, nearly always: the next sweep finds the rest. */
const LOOKED_AT = 20;
