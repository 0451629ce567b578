// The queue between mails that are due and the function that sends them, and the one of those that could not be sent.
import { variable } from "../../platform/env.ts";
import { dueTimeOf } from "../../records/mails.ts";
import { digestsDue } from "./digests.ts";
import { DELAY_SECONDS_MAX, sendMessages } from "./send-messages.ts";

/** Those that are due before the next sweep. */
const DIGEST_DELAY_SECONDS = 60;

const secondsTo = (time: number): number => Math.max(0, (time - Date.now()) / 1000);

/** Queues the mails whose positions are due soon. */
export async function queueMails(queueKeys: readonly string[]): Promise<void> {
  const due = queueKeys
    .map((queueKey) => ({ body: { place: queueKey }, delaySeconds: secondsTo(dueTimeOf(queueKey)) }))
    .filter(({ delaySeconds }) => delaySeconds <= DELAY_SECONDS_MAX);
  await sendMessages(variable("MAILS_QUEUE"), due);
}

/** Queues the digests that are due, or will be soon. */
export async function queueDigests(): Promise<void> {
  const digests = (await digestsDue())
    .map(({ user_id, at }) => ({ body: { digest: user_id }, delaySeconds: secondsTo(Date.parse(at)) }))
    .filter(({ delaySeconds }) => delaySeconds <= DIGEST_DELAY_SECONDS);
  if (digests.length > 0) await sendMessages(variable("MAILS_QUEUE"), digests);
}

/** Reports an unsent mail for the operator, whom an alarm tells: what it was about, but neither for whom nor what it said. */
export const reportUnsent = (mail: { account_id: string; mail_id: string; type: string }): Promise<void> =>
  sendMessages(variable("UNSENT_QUEUE"), [{ body: mail, delaySeconds: 0 }]);
