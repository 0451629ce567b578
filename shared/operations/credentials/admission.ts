// One conditional write admits a request: it checks that the credential exists, has not expired and is within its limits, records
// its use, and returns its permissions.
import type { RateClass } from "../../api/endpoint.ts";
import type { Permission } from "../../api/permissions.ts";
import { listPermissions, type SignedInWith } from "../../api/roles.ts";
import { WAIT_GRACE_SECONDS, WAITS_AT_ONCE } from "../../domain/limits.ts";
import { bytesOfAddress, networksAround } from "../../domain/network.ts";
import { fingerprintOfHash, fingerprintOfId, hashToken } from "../../domain/token-value.ts";
import { keys, type Item } from "../../data/keys.ts";
import { EVERY_LIMIT, LIMITS, WINDOW_MS } from "../../records/rate-limits.ts";
import type { Caller } from "../../records/schemas/caller.ts";
import { TokenAccess } from "../../records/schemas/token.ts";
import { tryAcquireSlots, releaseSlot, type Limit, readTimes, type Verdict, type OptionalSlots } from "../../data/slots.ts";
import { find, type Ref } from "../../data/table.ts";
import { log } from "../../platform/log.ts";
import { recordOutsideUse } from "../../records/outside-uses.ts";
import { permissionsIn } from "../../data/permission-bits.ts";
import { labelRef, tokenAccessRef } from "../../records/tokens.ts";
import { endOfSession, openSessions, readGrant, sessionTag, userRef } from "../../records/users.ts";

export interface RequestFacts {
  rate: RateClass;
  ipAddress: string | null;
  /** Milliseconds since 1970. */
  at: number;
  /** How long the request would like to wait; 0 for most. */
  waitSeconds: number;
  requestId: string;
}

/** Their names are short, because the whole item has to fit into one write unit. */
const WAIT_SLOTS = Array.from({ length: WAITS_AT_ONCE }, (_, i) => `w${i}`);

const readWait = ({ waitSeconds, at }: RequestFacts): OptionalSlots | undefined =>
  waitSeconds === 0 ? undefined : { slots: WAIT_SLOTS, untilMs: at + (waitSeconds + WAIT_GRACE_SECONDS) * 1000 };

/** Frees the slot of a request that has finished waiting. */
export async function endWait({ type, id, wait }: Caller): Promise<void> {
  if (wait === undefined) return;
  const key = type === "token" ? keys.tokenAccess(fingerprintOfId(id)) : keys.userAccess(id);
  await releaseSlot(key, wait.place, wait.until);
}

/** The credential's limit with the smallest share left, whichever limit the request counts against. */
interface LimitState {
  scope: RateClass;
  limit: number;
  remaining: number;
  /** Milliseconds until the oldest counted request leaves the window. */
  resetMs: number;
}

export type AuthorizationResult =
  | { kind: "rejected" }
  | { kind: "admitted" | "limited"; caller: Caller; state: LimitState; retryAfterMs: number | undefined };

/** Admits a request with an API token, found by the hash of its value. */
export async function authorizeToken(value: string, facts: RequestFacts): Promise<AuthorizationResult> {
  const hash = hashToken(value);
  const { ipAddress } = facts;
  const around = ipAddress === null ? [] : networksAround(ipAddress);
  const address = ipAddress === null ? undefined : bytesOfAddress(ipAddress);
  const verdict = await tryAcquireSlots({
    key: keys.tokenAccess(fingerprintOfHash(hash)),
    limits: LIMITS[facts.rate],
    windowMs: WINDOW_MS,
    now: facts.at,
    // From elsewhere, a token is not even counted: whoever has found one cannot use up its limits.
    condition: `#hash = :hash AND (attribute_not_exists(expires_at) OR expires_at > :at) AND (${[
      "attribute_not_exists(n)",
      ...around.map((_, bits) => `contains(n, :n${bits})`),
    ].join(" OR ")})`,
    holds: (item) => matchesToken(TokenAccess.parse(item), { hash, at: facts.at, around }),
    names: { "#hash": "hash" },
    values: { ":hash": hash, ":at": facts.at, ...Object.fromEntries(around.map((network, bits) => [`:n${bits}`, network])) },
    set: { ip: address === undefined ? null : Uint8Array.from(address) },
    remove: ["last_used_ip"],
    optionalSlot: readWait(facts),
  });
  if (verdict.kind === "rejected" && verdict.item !== undefined)
    await recordIfOutside(verdict.item, { hash, at: facts.at, around }, facts);
  return admission(verdict, facts, (item) => {
    const { account_id, id, permissions } = TokenAccess.parse(item);
    return { account_id, type: "token", id, permissions: permissionsIn(permissions), ip_address: facts.ipAddress };
  });
}

/** Whoever has a token that does not work from where they are gets what an unknown one gets; its account is told. */
async function recordIfOutside(item: Item, presented: PresentedToken, { ipAddress, requestId, at }: RequestFacts): Promise<void> {
  const token = TokenAccess.parse(item);
  if (!matchesToken({ ...token, networks: [] }, presented)) return;
  const { account_id, id } = token;
  await recordOutsideUse({ account_id, token_id: id, ip_address: ipAddress, request_id: requestId, at }).catch((error: unknown) =>
    log.error("could not note the use of a token from outside its networks", { token: id, error }),
  );
}

interface PresentedToken {
  hash: Uint8Array;
  at: number;
  /** The networks that the request comes from. */
  around: readonly Uint8Array[];
}

/** The same as the condition of the write. */
const matchesToken = ({ hash, expires_at = Infinity, networks }: TokenAccess, presented: PresentedToken): boolean =>
  Buffer.compare(hash, presented.hash) === 0 &&
  expires_at > presented.at &&
  (networks.length === 0 || networks.some((network) => presented.around.some((each) => Buffer.compare(network, each) === 0)));

/** A session of the dashboard, as its JWT says. */
export interface Session {
  userId: string;
  accountId: string;
  sessionId: string;
  /** How it was opened. */
  signedInWith?: SignedInWith | undefined;
}

/** Admits a request with a session; the user's limits are shared by all of their sessions. */
export async function authorizeSession(
  { userId, accountId, sessionId, signedInWith }: Session,
  facts: RequestFacts,
): Promise<AuthorizationResult> {
  if (endOfSession(sessionId).getTime() <= facts.at) return { kind: "rejected" };
  const tag = sessionTag(sessionId);
  const verdict = await tryAcquireSlots({
    key: keys.userAccess(userId),
    limits: LIMITS[facts.rate],
    windowMs: WINDOW_MS,
    now: facts.at,
    condition: "contains(sessions, :session)",
    holds: (item) => openSessions(item).some((open) => Buffer.compare(open, tag) === 0),
    values: { ":session": tag },
    optionalSlot: readWait(facts),
  });
  return admission(verdict, facts, (item) => {
    const granted = readGrant(item);
    return {
      account_id: accountId,
      type: "user",
      id: userId,
      permissions: [...listPermissions(granted)],
      role: granted.role,
      session_id: sessionId,
      ...(signedInWith !== undefined && { signed_in_with: signedInWith }),
      ...(item["s"] === true && signedInWith !== "sso" && { must_set_up: true as const }),
      ip_address: facts.ipAddress,
    };
  });
}

function admission(verdict: Verdict<RateClass>, facts: RequestFacts, callerOf: (item: Item) => Caller): AuthorizationResult {
  if (verdict.kind === "rejected") return { kind: "rejected" };
  const states = EVERY_LIMIT.map((limit) => buildState(limit, verdict.item, facts.at));
  const hit = verdict.kind === "limited" ? states.find((state) => state.scope === verdict.by) : undefined;
  const state = hit ?? states.toSorted((a, b) => a.remaining / a.limit - b.remaining / b.limit)[0];
  if (state === undefined) throw new Error("Every request has a limit");
  const optionalSlot = readWait(facts);
  const slot = verdict.kind === "admitted" ? verdict.slot : undefined;
  return {
    kind: verdict.kind,
    caller: {
      ...callerOf(verdict.item),
      ...(optionalSlot !== undefined && slot !== undefined && { wait: { place: slot, until: optionalSlot.untilMs } }),
    },
    state,
    retryAfterMs: verdict.kind === "limited" ? verdict.retryAfterMs : undefined,
  };
}

function buildState({ name, slots }: Limit<RateClass>, item: Item, at: number): LimitState {
  const counted = readTimes(item, name).filter((time) => time > at - WINDOW_MS);
  return {
    scope: name,
    limit: slots,
    remaining: slots - counted.length,
    resetMs: counted.length === 0 ? 0 : Math.min(...counted) + WINDOW_MS - at,
  };
}

/** What a credential may do now, while no request of it is there; nothing once it is revoked, has expired or was removed. */
export async function currentPermissions({
  type,
  account_id,
  id,
}: Pick<Caller, "type" | "account_id" | "id">): Promise<Permission[]> {
  if (type === "user") {
    const user = await find(userRef(id));
    return user?.account_id === account_id ? [...listPermissions(user)] : [];
  }
  const token = await find(tokenAccessRef(id));
  const isValid = token?.id === id && token.account_id === account_id && (token.expires_at ?? Infinity) > Date.now();
  return isValid ? permissionsIn(token.permissions) : [];
}

/** Returns where the caller's name is stored. */
export const callerRef = ({ type, account_id, id }: Caller): Ref<{ name: string }> =>
  type === "token" ? labelRef(account_id, id) : userRef(id);
