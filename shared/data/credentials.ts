// Credentials: API tokens, and users with their sessions. Admission is one conditional write: the credential exists and is
// not expired, its limits are not hit, its last use is noted, and its permissions come back.
import * as z from "zod";
import { ApiError, conflict, emailTaken, notCurrentPassword, notFound } from "../api/errors.ts";
import type { RateClass } from "../api/endpoint.ts";
import { ALL_PERMISSIONS } from "../api/permissions.ts";
import { Token, TOKEN_UNVERSIONED } from "../api/tokens.ts";
import { isId } from "../domain/ids.ts";
import { REQUEST_LIMITS, SESSIONS_PER_USER, WAIT_GRACE_SECONDS, WAITS_AT_ONCE, WINDOW_SECONDS } from "../domain/limits.ts";
import { fingerprintOfHash, fingerprintOfId, hashOf, newTokenValue, tokenIdFor, tokenPrefix } from "../domain/token-value.ts";
import type { Environment } from "../domain/environments.ts";
import { type By, type Change, now } from "./change.ts";
import { keys } from "./keys.ts";
import { type Caller, CredentialRecord, UserRecord } from "./records.ts";
import { enter, freeThePlace, type Limit, timesOf, type Verdict, type Wish } from "./slots.ts";
import { find, type Item, queryAll, readAll, type Ref, updateRaw } from "./table.ts";
import { type Version, versionOf } from "./versions.ts";

const WINDOW_MS = WINDOW_SECONDS * 1000;
const LIMITS: Record<RateClass, readonly Limit<RateClass>[]> = {
  all: [{ name: "all", slots: REQUEST_LIMITS.all }],
  create_delete: [
    { name: "create_delete", slots: REQUEST_LIMITS.create_delete },
    { name: "all", slots: REQUEST_LIMITS.all },
  ],
};
const EVERY_LIMIT = LIMITS.create_delete;
const freeSlots = () => ({ all: zeros(REQUEST_LIMITS.all), create_delete: zeros(REQUEST_LIMITS.create_delete) });
const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);

export interface RequestFacts {
  rate: RateClass;
  ipAddress: string | null;
  /** Milliseconds since 1970. */
  at: number;
  /** How long the request would like to wait; 0 for most. */
  waitSeconds: number;
}

const WAIT_PLACES = Array.from({ length: WAITS_AT_ONCE }, (_, i) => `wait_${i}`);

const wishOf = ({ waitSeconds, at }: RequestFacts): Wish | undefined =>
  waitSeconds === 0 ? undefined : { places: WAIT_PLACES, untilMs: at + (waitSeconds + WAIT_GRACE_SECONDS) * 1000 };

/** Frees the place that a request which has waited had taken. */
export async function endWait({ type, id, wait }: Caller): Promise<void> {
  if (wait === undefined) return;
  const key = type === "token" ? keys.credential(fingerprintOfId(id)) : keys.user(id);
  await freeThePlace(key, wait.place, wait.until);
}

/** Of a credential's limits, whichever a request counts against, the one of which the smallest share is left. */
interface LimitState {
  scope: RateClass;
  limit: number;
  remaining: number;
  /** Milliseconds until the oldest counted request leaves the window. */
  resetMs: number;
}

export type Admission =
  | { kind: "rejected" }
  | { kind: "admitted" | "limited"; caller: Caller; state: LimitState; retryAfterMs: number | undefined };

/** Admits a request with an API token, found by the hash of its value. */
export async function admitToken(value: string, facts: RequestFacts): Promise<Admission> {
  const hash = hashOf(value);
  const iso = new Date(facts.at).toISOString();
  const verdict = await enter({
    key: keys.credential(fingerprintOfHash(hash)),
    limits: LIMITS[facts.rate],
    windowMs: WINDOW_MS,
    now: facts.at,
    condition: "#hash = :hash AND (expires_at = :never OR expires_at > :iso)",
    holds: (item) => isGood(CredentialRecord.parse(item), hash, iso),
    names: { "#hash": "hash" },
    values: { ":hash": hash, ":never": null, ":iso": iso },
    set: { last_used_at: iso, last_used_ip: facts.ipAddress },
    wish: wishOf(facts),
  });
  return admission(verdict, facts, (item) => {
    const { account_id, id, name, permissions } = CredentialRecord.parse(item);
    return { account_id, type: "token", id, name, permissions, ip_address: facts.ipAddress };
  });
}

const isGood = ({ hash, expires_at }: CredentialRecord, expected: string, at: string): boolean =>
  hash === expected && (expires_at === null || expires_at > at);

/** Admits a request with a session of the dashboard; the user's limits are shared by all of their sessions. */
export async function admitSession(userId: string, sessionId: string, facts: RequestFacts): Promise<Admission> {
  const iso = new Date(facts.at).toISOString();
  const verdict = await enter({
    key: keys.user(userId),
    limits: LIMITS[facts.rate],
    windowMs: WINDOW_MS,
    now: facts.at,
    condition: "sessions.#session.expires_at > :iso",
    holds: (item) => (UserRecord.parse(item).sessions[sessionId]?.expires_at ?? "") > iso,
    names: { "#session": sessionId },
    values: { ":iso": iso },
    wish: wishOf(facts),
  });
  return admission(verdict, facts, (item) => {
    const { account_id, id, name } = UserRecord.parse(item);
    return {
      account_id,
      type: "user",
      id,
      name,
      permissions: [...ALL_PERMISSIONS],
      session_id: sessionId,
      ip_address: facts.ipAddress,
    };
  });
}

function admission(verdict: Verdict<RateClass>, facts: RequestFacts, callerOf: (item: Item) => Caller): Admission {
  if (verdict.kind === "rejected") return verdict;
  const states = EVERY_LIMIT.map((limit) => stateOf(limit, verdict.item, facts.at));
  const hit = verdict.kind === "limited" ? states.find((state) => state.scope === verdict.by) : undefined;
  const state = hit ?? states.toSorted((a, b) => a.remaining / a.limit - b.remaining / b.limit)[0];
  if (state === undefined) throw new Error("Every request has a limit");
  const wish = wishOf(facts);
  const place = verdict.kind === "admitted" ? verdict.place : undefined;
  return {
    kind: verdict.kind,
    caller: {
      ...callerOf(verdict.item),
      ...(wish !== undefined && place !== undefined && { wait: { place, until: wish.untilMs } }),
    },
    state,
    retryAfterMs: verdict.kind === "limited" ? verdict.retryAfterMs : undefined,
  };
}

function stateOf({ name, slots }: Limit<RateClass>, item: Item, at: number): LimitState {
  const counted = timesOf(item, name).filter((time) => time > at - WINDOW_MS);
  return {
    scope: name,
    limit: slots,
    remaining: slots - counted.length,
    resetMs: counted.length === 0 ? 0 : Math.min(...counted) + WINDOW_MS - at,
  };
}

const credentialRef = (tokenId: string): Ref<CredentialRecord> => ({
  key: keys.credential(fingerprintOfId(tokenId)),
  schema: CredentialRecord,
});

/** A token by the id in a path; another account's is not found. */
export async function getToken(accountId: string, id: string): Promise<CredentialRecord> {
  const token = isId("token", id) ? await find(credentialRef(id)) : undefined;
  if (token === undefined || token.id !== id || token.account_id !== accountId) throw notFound("API token");
  return token;
}

export const tokenVersion = (token: CredentialRecord): Version =>
  versionOf(credentialRef(token.id), token, { shown: Token, unversioned: TOKEN_UNVERSIONED });

/** All tokens of an account (at most 100), in two calls. */
export async function allTokens(accountId: string): Promise<CredentialRecord[]> {
  const ids = (await queryAll(keys.tokens(accountId), { consistent: true })).map((item) => String(item["sk"]));
  const items = await readAll(ids.map((id) => credentialRef(id).key));
  return [...items.values()].map((item) => CredentialRecord.parse(item));
}

/** The public fields of a token: never its hash. */
export const toToken = (record: CredentialRecord): Token => Token.parse(record);

/** Makes a token; its value is returned this once and only its hash is kept. */
export function reserveToken(
  change: Change,
  by: By,
  environment: Environment,
  draft: Pick<Token, "name" | "permissions" | "expires_at">,
): { token: CredentialRecord; value: string } {
  const value = newTokenValue(environment);
  const hash = hashOf(value);
  const id = tokenIdFor(hash, Date.now());
  const token: CredentialRecord = {
    ...draft,
    id,
    account_id: change.accountId,
    hash,
    prefix: tokenPrefix(environment),
    last4: value.slice(-4),
    created_at: now(),
    created_by: { type: by.caller.type, id: by.caller.id, name: by.caller.name },
    last_used_at: null,
    last_used_ip: null,
    ...freeSlots(),
  };
  change.use("token", 1);
  change.claim(keys.tokenName(change.accountId, token.name), "name", id);
  change.put(credentialRef(id).key, token);
  change.put(keys.token(change.accountId, id), { created_at: token.created_at });
  return { token, value };
}

/** Revokes a token: the very next request with it finds nothing. */
export function revokeToken(change: Change, token: CredentialRecord): void {
  change.use("token", -1);
  change.remove(credentialRef(token.id).key, { equals: { hash: token.hash } }, () => notFound("API token"));
  change.remove(keys.token(change.accountId, token.id));
  change.remove(keys.tokenName(change.accountId, token.name));
}

export const userRef = (userId: string): Ref<UserRecord> => ({ key: keys.user(userId), schema: UserRecord });

export function reserveUser(change: Change, user: Pick<UserRecord, "id" | "email" | "name" | "password_hash">): UserRecord {
  const record: UserRecord = { ...user, account_id: change.accountId, created_at: now(), sessions: {}, ...freeSlots() };
  change.use("user", 1);
  change.put(keys.email(user.email), { user_id: user.id }, () => emailTaken());
  change.put(keys.user(user.id), record);
  change.put(keys.userOf(change.accountId, user.id), { email: user.email });
  return record;
}

/** Removes a user: their sessions are on the record, so that the very next request with one finds nothing. */
export function removeUser(change: Change, user: UserRecord): void {
  change.use("user", -1);
  change.requireMore("user", 1, () =>
    conflict("This is the account's last user, so nobody could sign in; create another user first", { resource: "user" }),
  );
  change.remove(keys.user(user.id), {}, () => notFound("user"));
  change.remove(keys.email(user.email), { equals: { user_id: user.id } });
  change.remove(keys.userOf(user.account_id, user.id));
}

/** Each failed try means that another request opened or ended a session of the user, so that some request always makes progress. */
const SESSION_TRIES = 100;

/**
 * Opens a session; beyond the quota the oldest end, and so do those that have expired. False if the password that was verified
 * is no longer the user's: a change of password ends the sessions that are being opened, too.
 */
export async function openSession(user: UserRecord, sessionId: string, expiresAt: string): Promise<boolean> {
  const at = now();
  let sessions = user.sessions;
  for (let attempt = 0; attempt < SESSION_TRIES; attempt++) {
    const ended = surplus(sessions, at, attempt > 0);
    const places = ended.map((_, i) => `sessions.#ended${i}`);
    const { done, item } = await updateRaw(keys.user(user.id), {
      UpdateExpression: `SET sessions.#new = :new${places.length > 0 ? ` REMOVE ${places.join(", ")}` : ""}`,
      // The condition that the ended ones existed keeps the number exact.
      ConditionExpression: [
        "password_hash = :verified",
        "size(sessions) <= :most",
        ...places.map((place) => `attribute_exists(${place})`),
      ].join(" AND "),
      ExpressionAttributeNames: { "#new": sessionId, ...Object.fromEntries(ended.map((id, i) => [`#ended${i}`, id])) },
      ExpressionAttributeValues: {
        ":new": { expires_at: expiresAt, created_at: at },
        ":verified": user.password_hash,
        ":most": SESSIONS_PER_USER - 1 + ended.length,
      },
    });
    if (done) return true;
    if (item === undefined) return false; // the user was removed
    const present = UserRecord.parse(item);
    if (present.password_hash !== user.password_hash) return false;
    sessions = present.sessions;
  }
  throw new Error(`Could not open a session for ${user.id} in ${SESSION_TRIES} tries`);
}

/** The sessions that end when one more is opened: the oldest. Concurrent sign-ins each end another one of the older half. */
function surplus(sessions: UserRecord["sessions"], at: string, contended: boolean): string[] {
  const oldestFirst = Object.entries(sessions).toSorted(([, a], [, b]) => (a.created_at < b.created_at ? -1 : 1));
  const live = oldestFirst.filter(([, session]) => session.expires_at > at);
  const expired = oldestFirst.filter(([, session]) => session.expires_at <= at);
  const count = Math.max(0, live.length - (SESSIONS_PER_USER - 1));
  const first = contended && count > 0 ? Math.floor(Math.random() * (SESSIONS_PER_USER / 2)) : 0;
  return [...live.slice(first, first + count), ...expired].map(([id]) => id);
}

export async function endSession(userId: string, sessionId: string): Promise<void> {
  await updateRaw(keys.user(userId), {
    UpdateExpression: "REMOVE sessions.#ended",
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeNames: { "#ended": sessionId },
  });
}

/**
 * Sets a password and ends every session, including those opened in the meantime, except the one that set it, if given. That
 * session must still exist: a session that ended since the user was read stays ended.
 */
export function setPassword(change: Change, user: UserRecord, passwordHash: string, keepSessionId?: string): void {
  const kept = keepSessionId === undefined ? undefined : user.sessions[keepSessionId];
  if (keepSessionId !== undefined && kept === undefined) throw new ApiError("UNAUTHORIZED");
  change.update(
    keys.user(user.id),
    {
      set: {
        password_hash: passwordHash,
        sessions: keepSessionId !== undefined && kept !== undefined ? { [keepSessionId]: kept } : {},
      },
    },
    {
      equals: { password_hash: user.password_hash },
      ...(keepSessionId !== undefined && { has: [["sessions", keepSessionId]] }),
    },
    (present) =>
      present?.["password_hash"] === user.password_hash
        ? new ApiError("UNAUTHORIZED") // the session has ended in the meantime
        : notCurrentPassword(), // another request was faster
  );
}

const EmailRecord = z.object({ user_id: z.string() });

/** An id that no user has. */
const NOBODY = "usr_none";

/** Email addresses are case-insensitive. */
export async function findUserByEmail(email: string): Promise<UserRecord | undefined> {
  const owner = await find({ key: keys.email(email), schema: EmailRecord });
  const user = await find(userRef(owner?.user_id ?? NOBODY)); // also for an unknown address, so that both take the same time
  return owner === undefined ? undefined : user;
}
