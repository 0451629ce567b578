// What is shown of a user's sessions, and from where they have signed in. Whether a session is open says only the item that
// admits its requests (users.ts).
import * as z from "zod";
import { notFound } from "../api/errors.ts";
import type { SignedIn } from "../api/auth.ts";
import type { Change } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { decodeStamp } from "../data/stamps.ts";
import { find, queryAll, readAll, type Ref } from "../data/table.ts";
import { timeOfId } from "../domain/ids.ts";
import { SESSION_HOURS } from "../domain/limits.ts";
import { toNetwork } from "../domain/network.ts";
import { noText, text } from "./schemas/fields.ts";
import type { UserRecord } from "./schemas/user.ts";
import { endOfSession, openSessions, sessionTag } from "./users.ts";
import { DAY_SECONDS, HOUR_MS, HOUR_SECONDS } from "../domain/durations.ts";
import { ttlAfter } from "../data/ttl.ts";

const SessionRecord = z.object({
  id: text,
  ip_address: noText,
  user_agent: noText,
  /** The time when it was last proven with a second factor. */
  second_factor_at: noText,
});
type SessionRecord = z.infer<typeof SessionRecord>;

const NETWORK_DAYS = 180;

export const recordSession = (change: Change, { id }: UserRecord, session: SessionRecord): void =>
  change.put(keys.session(id, session.id), { ...session, ttl: ttlAfter(SESSION_HOURS * HOUR_SECONDS) });

export const sessionRef = (userId: string, sessionId: string): Ref<SessionRecord> => ({
  key: keys.session(userId, sessionId),
  schema: SessionRecord,
});

/** Notes that whoever has a session has just proven a second factor. */
export function recordProof(change: Change, userId: string, sessionId: string): void {
  const set = { id: sessionId, second_factor_at: change.at };
  const fill = { ttl: ttlAfter(SESSION_HOURS * HOUR_SECONDS) }; // one from before sessions were recorded has no record yet
  change.update(sessionRef(userId, sessionId).key, { set, fill }, { exists: false });
}

/** Those that are open, the newest first; of one from before they were recorded only the caller's own. */
export async function listSessions(userId: string, currentId: string): Promise<SignedIn[]> {
  const [open, items] = await Promise.all([
    tagsOf(userId),
    queryAll(keys.user(userId).pk, { beginsWith: keys.sessionsOf(), consistent: true }),
  ]);
  const recorded = parseEach(SessionRecord, items);
  const isCurrent = ({ id }: SessionRecord): boolean => id === currentId;
  const all = recorded.some(isCurrent)
    ? recorded
    : [...recorded, { id: currentId, ip_address: null, user_agent: null, second_factor_at: null }];
  return all
    .filter(({ id }) => open.some((tag) => isSame(tag, sessionTag(id))))
    .map((session) => ({
      ...session,
      created_at: new Date(timeOfId(session.id)).toISOString(),
      current: isCurrent(session),
    }));
}

/** Those of the sessions that are open: an expired one stays on the item until others take its place. */
async function tagsOf(userId: string): Promise<Uint8Array[]> {
  const item = (await readAll([keys.userAccess(userId)])).values().next().value ?? {};
  return openSessions(item).filter((tag) => decodeStamp(tag) > Date.now() - SESSION_HOURS * HOUR_MS);
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;

/** Ends all of a user's sessions but one, and returns how many. */
export async function endOtherSessions(change: Change, userId: string, currentId: string): Promise<number> {
  const [open, currentTag] = [await tagsOf(userId), sessionTag(currentId)];
  const otherTags = open.filter((tag) => !isSame(tag, currentTag));
  // Those that are opened meanwhile stay: whoever ends the others has not seen them.
  if (otherTags.length > 0) change.update(keys.userAccess(userId), { take: { sessions: new Set(otherTags) } });
  return otherTags.length;
}

/** Ends one of a user's sessions; throws 404 if it is not open. */
export function endOneSession(change: Change, userId: string, sessionId: string): void {
  if (endOfSession(sessionId).getTime() <= Date.now()) throw notFound("session");
  const tag = sessionTag(sessionId);
  change.update(keys.userAccess(userId), { take: { sessions: new Set([tag]) } }, { contains: { sessions: tag } }, () =>
    notFound("session"),
  );
  change.remove(keys.session(userId, sessionId));
}

const KnownNetwork = z.object({ ttl: z.number() });

/** Whether the user has signed in from there before. Nobody is told of their first sign-in, nor of one without an address. */
export async function isKnownNetwork({ id, last_sign_in_at }: UserRecord, ipAddress: string | null): Promise<boolean> {
  if (last_sign_in_at === null || ipAddress === null) return true;
  const network = await find({ key: keys.knownNetwork(id, toNetwork(ipAddress)), schema: KnownNetwork });
  return network !== undefined && network.ttl > Date.now() / 1000;
}

export function recordNetwork(change: Change, { id }: UserRecord, ipAddress: string | null): void {
  if (ipAddress !== null)
    change.update(
      keys.knownNetwork(id, toNetwork(ipAddress)),
      { set: { ttl: ttlAfter(NETWORK_DAYS * DAY_SECONDS) } },
      { exists: false },
    );
}
