// Credentials: API tokens, and users with their sessions. One conditional write admits a request: it checks that the credential exists, has
// not expired and is within its limits, records its use, and returns its permissions.
import { createHash } from "node:crypto";
import * as z from "zod";
import { ApiError, conflict, emailTaken, notCurrentPassword, notFound } from "../api/errors.ts";
import type { RateClass } from "../api/endpoint.ts";
import { ALL_PERMISSIONS, type Permission } from "../api/permissions.ts";
import { Token, TOKEN_UNVERSIONED } from "../api/tokens.ts";
import { etagOf, versionedFields } from "../domain/etag.ts";
import { bytesOfId, isId, timeOfId } from "../domain/ids.ts";
import {
  REQUEST_LIMITS,
  SESSION_HOURS,
  SESSIONS_PER_USER,
  WAIT_GRACE_SECONDS,
  WAITS_AT_ONCE,
  WINDOW_SECONDS,
} from "../domain/limits.ts";
import { fingerprintOfHash, fingerprintOfId, hashOf, newTokenValue, tokenIdFor, tokenPrefix } from "../domain/token-value.ts";
import type { Environment } from "../domain/environments.ts";
import { actorOf, type By, type Change, now } from "./change.ts";
import { keys } from "./keys.ts";
import { type Caller, TokenAccess, TokenLabel, type TokenRecord, UserAccess, UserRecord } from "./records.ts";
import { enter, freeSlots, freeThePlace, type Limit, timesOf, type Verdict, type Wish } from "./slots.ts";
import { stampOf } from "./stamps.ts";
import { find, type Item, queryAll, read, readAll, type Ref, updateRaw } from "./table.ts";
import { keyString } from "./keys.ts";
import type { Version } from "./versions.ts";

const WINDOW_MS = WINDOW_SECONDS * 1000;
const LIMITS: Record<RateClass, readonly Limit<RateClass>[]> = {
  all: [{ name: "all", slots: REQUEST_LIMITS.all }],
  create_delete: [
    { name: "create_delete", slots: REQUEST_LIMITS.create_delete },
    { name: "all", slots: REQUEST_LIMITS.all },
  ],
};
const EVERY_LIMIT = LIMITS.create_delete;
const everySlotFree = () => ({ all: freeSlots(REQUEST_LIMITS.all), create_delete: freeSlots(REQUEST_LIMITS.create_delete) });

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

/** Frees the place of a request that has finished waiting. */
export async function endWait({ type, id, wait }: Caller): Promise<void> {
  if (wait === undefined) return;
  const key = type === "token" ? keys.tokenAccess(fingerprintOfId(id)) : keys.userAccess(id);
  await freeThePlace(key, wait.place, wait.until);
}

/** The credential's limit with the smallest share left, whichever limit the request counts against. */
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
  const verdict = await enter({
    key: keys.tokenAccess(fingerprintOfHash(hash)),
    limits: LIMITS[facts.rate],
    windowMs: WINDOW_MS,
    now: facts.at,
    condition: "#hash = :hash AND (attribute_not_exists(expires_at) OR expires_at > :at)",
    holds: (item) => isGood(TokenAccess.parse(item), hash, facts.at),
    names: { "#hash": "hash" },
    values: { ":hash": hash, ":at": facts.at },
    set: { last_used_ip: facts.ipAddress },
    wish: wishOf(facts),
  });
  return admission(verdict, facts, (item) => {
    const { account_id, id, permissions } = TokenAccess.parse(item);
    return { account_id, type: "token", id, permissions: permissionsIn(permissions), ip_address: facts.ipAddress };
  });
}

const isGood = ({ hash, expires_at = Infinity }: TokenAccess, expected: Uint8Array, at: number): boolean =>
  Buffer.compare(hash, expected) === 0 && expires_at > at;

/** A session of the dashboard, as its JWT says. */
export interface Session {
  userId: string;
  accountId: string;
  sessionId: string;
}

/** Admits a request with a session; the user's limits are shared by all of their sessions. */
export async function admitSession({ userId, accountId, sessionId }: Session, facts: RequestFacts): Promise<Admission> {
  if (endOfSession(sessionId).getTime() <= facts.at) return { kind: "rejected" };
  const tag = sessionTag(sessionId);
  const verdict = await enter({
    key: keys.userAccess(userId),
    limits: LIMITS[facts.rate],
    windowMs: WINDOW_MS,
    now: facts.at,
    condition: "contains(sessions, :session)",
    holds: (item) => openSessions(item).some((open) => Buffer.compare(open, tag) === 0),
    values: { ":session": tag },
    wish: wishOf(facts),
  });
  return admission(verdict, facts, () => ({
    account_id: accountId,
    type: "user",
    id: userId,
    permissions: [...ALL_PERMISSIONS],
    session_id: sessionId,
    ip_address: facts.ipAddress,
  }));
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

export const tokenAccessRef = (tokenId: string): Ref<TokenAccess> => ({
  key: keys.tokenAccess(fingerprintOfId(tokenId)),
  schema: TokenAccess,
});
const labelRef = (accountId: string, tokenId: string): Ref<z.infer<typeof TokenLabel>> => ({
  key: keys.token(accountId, tokenId),
  schema: TokenLabel,
});

/** Where the caller's name is. */
export const callerRef = ({ type, account_id, id }: Caller): Ref<{ name: string }> =>
  type === "token" ? labelRef(account_id, id) : userRef(id);

/** A token by the id in a path; another account's is not found. */
export async function getToken(accountId: string, id: string): Promise<TokenRecord> {
  const found = isId("token", id) ? await read({ access: tokenAccessRef(id), label: labelRef(accountId, id) }) : undefined;
  if (found?.access === undefined || found.label === undefined) throw notFound("API token");
  return tokenOf(found.access, found.label);
}

function tokenOf({ account_id, hash, ...access }: TokenAccess, label: z.infer<typeof TokenLabel>): TokenRecord {
  const lastUsed = Math.max(...access.all);
  return {
    ...label,
    account_id,
    hash,
    permissions: permissionsIn(access.permissions),
    last_used_at: lastUsed === 0 ? null : new Date(lastUsed).toISOString(),
    last_used_ip: access.last_used_ip,
    expires_at: access.expires_at === undefined ? null : new Date(access.expires_at).toISOString(),
  };
}

/** A token never changes, except that its last use moves on. */
export function tokenVersion(token: TokenRecord): Version {
  const etag = etagOf(token, versionedFields(Token.shape, TOKEN_UNVERSIONED));
  return { key: keys.token(token.account_id, token.id), etag, values: { name: token.name }, etagOf: () => etag };
}

/** All tokens of an account (at most 100), in two calls. */
export async function allTokens(accountId: string): Promise<TokenRecord[]> {
  const labels = (await queryAll(keys.tokens(accountId), { consistent: true })).map((item) => TokenLabel.parse(item));
  const items = await readAll(labels.map(({ id }) => tokenAccessRef(id).key));
  return labels.flatMap((label) => {
    const item = items.get(keyString(tokenAccessRef(label.id).key));
    return item === undefined ? [] : tokenOf(TokenAccess.parse(item), label);
  });
}

const bitOf = (permission: Permission): number => 1 << ALL_PERMISSIONS.indexOf(permission);
const bitsOf = (permissions: readonly Permission[]): number => permissions.reduce((bits, each) => bits | bitOf(each), 0);
const permissionsIn = (bits: number): Permission[] => ALL_PERMISSIONS.filter((permission) => (bits & bitOf(permission)) !== 0);

/** Creates a token. Its value is returned only here; the table keeps its hash. */
export function reserveToken(
  change: Change,
  by: By,
  environment: Environment,
  draft: Pick<Token, "name" | "permissions" | "expires_at">,
): { token: TokenRecord; value: string } {
  const value = newTokenValue(environment);
  const hash = hashOf(value);
  const id = tokenIdFor(hash, Date.now());
  const label = {
    id,
    name: draft.name,
    prefix: tokenPrefix(environment),
    last4: value.slice(-4),
    created_at: now(),
    created_by: actorOf(by),
  };
  const access = {
    id,
    account_id: change.accountId,
    hash,
    permissions: bitsOf(draft.permissions),
    ...(draft.expires_at !== null && { expires_at: Date.parse(draft.expires_at) }),
    ...everySlotFree(),
  };
  change.use("token", 1);
  change.claim(keys.tokenName(change.accountId, label.name), "name", id);
  change.put(tokenAccessRef(id).key, access);
  change.put(labelRef(change.accountId, id).key, label);
  return { token: tokenOf(TokenAccess.parse(access), label), value };
}

/** Revokes a token: the very next request with it finds nothing. */
export function revokeToken(change: Change, token: TokenRecord): void {
  change.use("token", -1);
  change.remove(tokenAccessRef(token.id).key, { equals: { hash: token.hash } }, () => notFound("API token"));
  change.remove(labelRef(change.accountId, token.id).key);
  change.remove(keys.tokenName(change.accountId, token.name));
}

export const userAccessRef = (userId: string): Ref<UserAccess> => ({ key: keys.userAccess(userId), schema: UserAccess });

export const userRef = (userId: string): Ref<UserRecord> => ({ key: keys.user(userId), schema: UserRecord });

export function reserveUser(change: Change, user: Pick<UserRecord, "id" | "email" | "name" | "password_hash">): UserRecord {
  const record: UserRecord = { ...user, account_id: change.accountId, created_at: now() };
  change.use("user", 1);
  change.put(keys.email(user.email), { user_id: user.id }, () => emailTaken());
  change.put(keys.user(user.id), record);
  change.put(keys.userAccess(user.id), { password: passwordTag(user.password_hash), ...everySlotFree() });
  change.put(keys.userOf(change.accountId, user.id), { email: user.email });
  return record;
}

/** Removes a user: the very next request with one of their sessions finds nothing. */
export function removeUser(change: Change, user: UserRecord): void {
  change.use("user", -1);
  change.requireMore("user", 1, () =>
    conflict("This is the account's last user, so nobody could sign in; create another user first", { resource: "user" }),
  );
  change.remove(keys.user(user.id), {}, () => notFound("user"));
  change.remove(keys.userAccess(user.id));
  change.remove(keys.email(user.email), { equals: { user_id: user.id } });
  change.remove(keys.userOf(user.account_id, user.id));
}

const PASSWORD_TAG_BYTES = 4;

/** Tells a password from the one before it, in few bytes: what is compared is a salted hash, not a guess. */
const passwordTag = (passwordHash: string): Uint8Array =>
  createHash("sha256").update(passwordHash).digest().subarray(0, PASSWORD_TAG_BYTES);

/** A session has a fixed length, and its ID contains the time when it was opened. */
export const endOfSession = (sessionId: string): Date => new Date(timeOfId(sessionId) + SESSION_HOURS * 3_600_000);

const SESSION_RANDOM_BYTES = 3;

/**
 * What the table keeps of a session: when it was opened, which sorts sessions by age, and three random bytes of its ID. The bytes only tell
 * apart a user's sessions of the same millisecond: nobody can present a guessed ID, because the JWT that carries it is signed.
 */
function sessionTag(sessionId: string): Uint8Array {
  return Buffer.concat([stampOf(timeOfId(sessionId)), bytesOfId(sessionId).subarray(-SESSION_RANDOM_BYTES)]);
}

/** The oldest first. */
const openSessions = (item: Item): Uint8Array[] =>
  [...(UserAccess.parse(item).sessions ?? [])].toSorted((a, b) => Buffer.compare(a, b));

/** Each failed try means that another request opened or ended a session of the user, so that some request always makes progress. */
const SESSION_TRIES = 100;

/**
 * Opens a session, and ends the oldest beyond the limit. Returns false if the verified password is no longer the user's: a password change
 * also ends sessions that are being opened.
 */
export async function openSession(user: UserRecord, sessionId: string): Promise<boolean> {
  const [key, tag, password] = [keys.userAccess(user.id), sessionTag(sessionId), passwordTag(user.password_hash)];
  let open: Uint8Array[] = []; // what most have is room
  for (let attempt = 0; attempt < SESSION_TRIES; attempt++) {
    const hasRoom = open.length < SESSIONS_PER_USER;
    const { done, item } = await updateRaw(key, {
      UpdateExpression: hasRoom ? "ADD sessions :new" : "SET sessions = :new",
      ConditionExpression: `#password = :password AND ${
        hasRoom ? "(attribute_not_exists(sessions) OR size(sessions) < :most)" : "sessions = :open"
      }`,
      ExpressionAttributeNames: { "#password": "password" },
      ExpressionAttributeValues: {
        ":password": password,
        ...(hasRoom
          ? { ":new": new Set([tag]), ":most": SESSIONS_PER_USER }
          : { ":new": new Set([...open.slice(1 - SESSIONS_PER_USER), tag]), ":open": new Set(open) }),
      },
    });
    if (done) return true;
    if (item === undefined) return false; // the user was removed
    if (Buffer.compare(UserAccess.parse(item).password, password) !== 0) return false;
    open = openSessions(item);
  }
  throw new Error(`Could not open a session for ${user.id} in ${SESSION_TRIES} tries`);
}

export async function endSession(userId: string, sessionId: string): Promise<void> {
  await updateRaw(keys.userAccess(userId), {
    UpdateExpression: "DELETE sessions :ended",
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeValues: { ":ended": new Set([sessionTag(sessionId)]) },
  });
}

/**
 * Sets a password and ends every session, including those opened in the meantime, except the one that set it, if given. That
 * session must still be open: one that has ended since its request was admitted stays ended.
 */
export function setPassword(change: Change, user: UserRecord, passwordHash: string, keepSessionId?: string): void {
  const keep = keepSessionId === undefined ? undefined : sessionTag(keepSessionId);
  const password = passwordTag(passwordHash);
  change.update(
    keys.user(user.id),
    { set: { password_hash: passwordHash } },
    { equals: { password_hash: user.password_hash } },
    () => notCurrentPassword(), // another request was faster
  );
  change.update(
    keys.userAccess(user.id),
    keep === undefined ? { set: { password }, remove: ["sessions"] } : { set: { password, sessions: new Set([keep]) } },
    keep === undefined ? {} : { contains: { sessions: keep } },
    () => new ApiError("UNAUTHORIZED"), // the session, or the user, has gone in the meantime
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
