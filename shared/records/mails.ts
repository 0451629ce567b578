// Mails, from the change that requests one until it is sent: a record, and an entry in the queue of all mails by when the next
// try is due. A run that sends one first moves its entry to the try after that, so that nobody else sends it in the meantime, and
// a run that dies leaves it to the next.
import { createHash } from "node:crypto";
import * as z from "zod";
import { type Change, startChange, now, tryCommit } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { find, query, type Ref } from "../data/table.ts";
import { idFrom, newId } from "../domain/ids.ts";
import type { Language } from "../domain/languages.ts";
import { type Message, RULES } from "../mail/messages.ts";
import { seal, unseal } from "../platform/sealing.ts";
import { MailRecord, type MailEnd } from "./schemas/mail.ts";
import { DAY_SECONDS, MINUTE_MS } from "../domain/durations.ts";
import { ttlAfter } from "../data/ttl.ts";

interface NewMail {
  to: { user_id: string } | { email: string };
  /** The mail's language: by default the user's, or English. */
  language?: Language | undefined;
  message: Message;
  /** What it follows from, if that may be worked on twice: of the same there is one mail. */
  once?: { of: string; at: string };
}

const KEPT_DAYS = 30;
const ttl = (): number => ttlAfter(KEPT_DAYS * DAY_SECONDS);

const tokenContext = (mailId: string): string => `mail ${mailId}`;

/** Requests a mail in the transaction of the change that it tells of. */
export async function requestMail(change: Change, { to, language, message, once }: NewMail): Promise<void> {
  const id =
    once === undefined
      ? newId("mail")
      : idFrom("mail", Date.parse(once.at), createHash("sha256").update(once.of).digest().subarray(0, 10));
  const { token, ...stored } = { token: undefined, ...message };
  const mail = {
    id,
    account_id: change.accountId,
    to,
    ...(language !== undefined && { language }),
    message: stored,
    ...(token !== undefined && { sealed_token: await seal(token, tokenContext(id)) }),
    created_at: change.at,
    ttl: ttl(),
  };
  change.put(mailRef(change.accountId, id).key, mail);
  enqueueMail(change, { account_id: change.accountId, mail_id: id, at: change.at });
}

const mailRef = (accountId: string, id: string): Ref<MailRecord> => ({ key: keys.mail(accountId, id), schema: MailRecord });

const Due = z.object({ sk: z.string(), account_id: z.string(), mail_id: z.string() });
type Due = z.infer<typeof Due>;

const enqueueMail = (change: Change, { at, ...mail }: Omit<Due, "sk"> & { at: string }): void =>
  change.put(keys.mailDue(at, mail.mail_id), { ...mail, ttl: ttl() });

/** Minutes between the tries: 17 hours in all. The first pause is longer than a run may take. */
const RETRY_MINUTES = [2, 5, 15, 60, 240, 720];

export interface ClaimedMail {
  mail: MailRecord;
  /** The message with its token. */
  message: unknown;
  /** Its position in the queue, for the case that this run ends without having ended the mail. */
  nextAt: string;
  /** Whether there is no further try after this one. */
  isLast: boolean;
  /** Whether all tries have been made, or it is too late for one. */
  isOver: boolean;
}

/** Takes what is due by a key of the queue for one try. Undefined if there is nothing, or another run has it. */
export async function claimMail(queueKey: string): Promise<ClaimedMail | undefined> {
  if (queueKey > now()) return undefined; // a message that came early; the sweep sends another
  const due = await find({ key: keys.mailPlace(queueKey), schema: Due });
  const mail = due && (await find(mailRef(due.account_id, due.mail_id)));
  if (mail === undefined) return undefined;
  const { account_id, id, attempts, created_at, message } = mail;
  const pause = RETRY_MINUTES[Math.min(attempts, RETRY_MINUTES.length - 1)] ?? 0;
  const nextAt = new Date(Date.now() + pause * MINUTE_MS).toISOString();
  const change = startChange({ id: account_id });
  change.remove(keys.mailPlace(queueKey), {});
  enqueueMail(change, { account_id, mail_id: id, at: nextAt });
  change.update(mailRef(account_id, id).key, { set: { attempts: attempts + 1 } }, { unchanged: { attempts } });
  if (!(await tryCommit(change))) return undefined;
  const token = mail.sealed_token === undefined ? undefined : await unseal(mail.sealed_token, tokenContext(id));
  const until = Date.parse(created_at) + usefulMinutes(message.type) * MINUTE_MS;
  return {
    mail,
    message: { ...message, ...(token !== undefined && { token }) },
    nextAt,
    isLast: attempts >= RETRY_MINUTES.length || Date.parse(nextAt) > until,
    isOver: attempts > RETRY_MINUTES.length || Date.now() > until,
  };
}

const MINUTES: Readonly<Record<string, { usefulMinutes: number } | undefined>> = RULES;
const usefulMinutes = (type: string): number => MINUTES[type]?.usefulMinutes ?? 0;

/** Ends a mail: nobody sends it again, and its token is gone. */
export async function endMail({ mail, nextAt }: ClaimedMail, ended: MailEnd): Promise<void> {
  const change = startChange({ id: mail.account_id });
  change.remove(keys.mailDue(nextAt, mail.id));
  const set = { ended, ended_at: now() };
  change.update(mailRef(mail.account_id, mail.id).key, { set, remove: ["sealed_token"] });
  await change.commit();
}

const READ_AT_ONCE = 500;

/** The keys of the queue that are due, the oldest first, as many as one run can forward. */
export async function mailsDue(): Promise<string[]> {
  const { items } = await query({
    KeyConditionExpression: "pk = :pk AND sk < :now",
    ExpressionAttributeValues: { ":pk": keys.mailsDue(), ":now": now() },
    ConsistentRead: true,
    Limit: READ_AT_ONCE,
  });
  return parseEach(Due, items).map(({ sk }) => sk);
}

/** Returns when the mail with a key of the queue is due. */
export const dueTimeOf = (queueKey: string): number => Date.parse(queueKey.split("#", 1)[0] ?? "");
