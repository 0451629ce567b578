// Alerts by mail: a user's first within a minute, what follows in one mail in ten minutes.
import * as z from "zod";
import { startChange, now, tryCommit } from "../../data/change.ts";
import { keys } from "../../data/keys.ts";
import { parseEach } from "../../data/parse-each.ts";
import { find, query, queryAll } from "../../data/table.ts";
import type { DigestOutcome } from "../../mail/messages.ts";
import { requestMail } from "../../records/mails.ts";
import type { EventRecord } from "../../records/schemas/event.ts";
import type { UserRecord } from "../../records/schemas/user.ts";
import { DAY_SECONDS } from "../../domain/durations.ts";
import { ttlAfter } from "../../data/ttl.ts";

/** What happens together is told together. */
const GATHER_SECONDS = 15;
const PAUSE_SECONDS = 600;
const KEPT_SECONDS = 7 * DAY_SECONDS;

const Digest = z.object({ last_at: z.string() });
const Due = z.object({ account_id: z.string(), user_id: z.string(), at: z.string(), changes: z.number() });
const Entry = z.object({ event_id: z.string(), outcome: z.looseObject({}) });

const later = (at: string, seconds: number): string => new Date(Date.parse(at) + seconds * 1000).toISOString();
const ttl = (): number => ttlAfter(KEPT_SECONDS);

/** Adds an event to a user's next digest, unless it is or was in one. */
export async function addToDigest({ account_id, id }: UserRecord, event: EventRecord): Promise<void> {
  const last = await find({ key: keys.digest(account_id, id), schema: Digest });
  const [soon, allowed] = [later(now(), GATHER_SECONDS), last === undefined ? "" : later(last.last_at, PAUSE_SECONDS)];
  const change = startChange({ id: account_id });
  change.put(keys.digested(account_id, id, event.id), { ttl: ttl() });
  change.put(keys.digestEntry(account_id, id, event.id), { event_id: event.id, outcome: toOutcome(event), ttl: ttl() });
  change.update(
    keys.digestDue(id),
    { fill: { account_id, user_id: id, at: soon > allowed ? soon : allowed }, add: { changes: 1 } },
    { exists: false },
  );
  await tryCommit(change); // unless another run has done it, or does it again
}

function toOutcome({ type, created_at, resource, data }: EventRecord): DigestOutcome {
  const { alert, operation } = data ?? {};
  return {
    event_type: type,
    at: created_at,
    resource: { type: resource.type, name: resource.name ?? resource.id },
    alert: alert === undefined ? null : { kind: alert.kind, value: alert.value, threshold: alert.threshold },
    error: operation?.error?.message ?? null,
  };
}

/** Those who have something waiting, and when they may get it. */
export async function digestsDue(): Promise<{ user_id: string; at: string }[]> {
  return parseEach(Due, await queryAll(keys.digestsDue(), { consistent: true }));
}

/** A transaction takes a hundred writes, and each entry is one. The rest waits for the next digest. */
const ENTRIES_MAX = 80;
const SHOWN_MAX = 20;

/** Requests the mail with what waits for a user, if it is due. */
export async function requestDigest(userId: string): Promise<void> {
  const due = await find({ key: keys.digestDue(userId), schema: Due });
  if (due === undefined || due.at > now()) return;
  const { account_id, at, changes } = due;
  const { items, more } = await query({
    KeyConditionExpression: "pk = :pk",
    ExpressionAttributeValues: { ":pk": keys.digestEntries(account_id, userId) },
    ConsistentRead: true,
    Limit: ENTRIES_MAX,
  });
  const entries = parseEach(Entry, items);
  const change = startChange({ id: account_id });
  for (const { event_id } of entries) change.remove(keys.digestEntry(account_id, userId, event_id));
  // Unless something was added since it was read: then the next run finds it, too.
  const unchanged = { equals: { at, changes } };
  if (more === undefined) change.remove(keys.digestDue(userId), unchanged);
  else change.update(keys.digestDue(userId), { set: { at: later(now(), PAUSE_SECONDS) } }, unchanged);
  change.update(keys.digest(account_id, userId), { set: { last_at: now(), ttl: ttl() } }, { exists: false });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as `addToDigest` stored it; the sender checks it
  const outcomes = entries.map(({ outcome }) => outcome as unknown as DigestOutcome);
  if (outcomes.length > 0)
    await requestMail(change, {
      to: { user_id: userId },
      message: { type: "alerts", outcomes: outcomes.slice(0, SHOWN_MAX), more: Math.max(0, outcomes.length - SHOWN_MAX) },
      once: { of: `digest ${userId} ${at}`, at },
    });
  await tryCommit(change); // unless another run has done it, or does it again
}
