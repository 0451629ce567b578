// API tokens: what a token may do is found by the hash of its value, what people see of it by its ID.
import type * as z from "zod";
import { notFound, tokenRotated } from "../api/errors.ts";
import { Token, TOKEN_UNVERSIONED } from "../api/tokens.ts";
import { HOUR_MS } from "../domain/durations.ts";
import type { Environment } from "../domain/environments.ts";
import { buildEtag, versionedFields } from "../domain/etag.ts";
import { networkInText, parseNetwork } from "../domain/network.ts";
import { uniqueForm } from "../domain/words.ts";
import { fingerprintOfId, hashToken, newTokenValue, tokenIdFor, tokenPrefix } from "../domain/token-value.ts";
import { type Change, now, Overtaken } from "../data/change.ts";
import { toActor, type By } from "./events.ts";
import { keys, keyString } from "../data/keys.ts";
import { parseEach, parseOrSkip } from "../data/parse-each.ts";
import { permissionsIn, toBits } from "../data/permission-bits.ts";
import { everySlotFree } from "./rate-limits.ts";
import { storeAccess, TokenAccess, TokenLabel, type TokenRecord } from "./schemas/token.ts";
import { find, queryAll, readAll, type Ref } from "../data/table.ts";
import { update } from "../data/writes.ts";
import type { Version } from "../data/versions.ts";

export const tokenAccessRef = (tokenId: string): Ref<TokenAccess> => ({
  key: keys.tokenAccess(fingerprintOfId(tokenId)),
  schema: TokenAccess,
});
export const labelRef = (accountId: string, tokenId: string): Ref<z.infer<typeof TokenLabel>> => ({
  key: keys.token(accountId, tokenId),
  schema: TokenLabel,
});

/** A token by the id in a path; another account's is not found. */
export const getToken = async (accountId: string, id: string): Promise<TokenRecord> =>
  tokenWith(id, await find(labelRef(accountId, id)));

/**
 * Completes a token of which its account's own part has been read. If both parts were read at once, another account's token would
 * take a millisecond longer than none.
 */
export async function tokenWith(id: string, label: z.infer<typeof TokenLabel> | undefined): Promise<TokenRecord> {
  const access = label && (await find(tokenAccessRef(id)));
  if (label === undefined || access === undefined) throw notFound("API token");
  return toTokenRecord(access, label);
}

function toTokenRecord({ account_id, hash, ...access }: TokenAccess, label: z.infer<typeof TokenLabel>): TokenRecord {
  const lastUsed = Math.max(...access.all);
  return {
    ...label,
    account_id,
    hash,
    permissions: permissionsIn(access.permissions),
    last_used_at: lastUsed === 0 ? null : new Date(lastUsed).toISOString(),
    last_used_ip: access.last_used_ip,
    expires_at: access.expires_at === undefined ? null : new Date(access.expires_at).toISOString(),
    allowed_ips: access.networks.map(networkInText).toSorted(),
  };
}

/** A token never changes, except that its last use moves on, and that it can be rotated. */
export function tokenVersion(token: TokenRecord): Version {
  const tag = (each: TokenRecord): string => buildEtag(each, versionedFields(Token.shape, TOKEN_UNVERSIONED));
  const { account_id, id, name, replaced_by, expires_at } = token;
  return {
    key: keys.token(account_id, id),
    etag: tag(token),
    values: { name, replaced_by },
    buildEtag: (current) => {
      const label = TokenLabel.parse(current);
      return tag({ ...token, replaced_by: label.replaced_by, expires_at: label.expires_at ?? expires_at });
    },
  };
}

/** All tokens of an account (at most 100), in two calls. */
export async function allTokens(accountId: string): Promise<TokenRecord[]> {
  const labels = parseEach(TokenLabel, await queryAll(keys.tokens(accountId), { consistent: true }));
  const items = await readAll(labels.map(({ id }) => tokenAccessRef(id).key));
  return labels.flatMap((label) => {
    const item = items.get(keyString(tokenAccessRef(label.id).key));
    const access = item && parseOrSkip(TokenAccess, item);
    return access === undefined ? [] : toTokenRecord(access, label);
  });
}

interface NewToken {
  token: TokenRecord;
  /** Returned only once; the table keeps its hash. */
  value: string;
}

type Draft = Pick<Token, "name" | "permissions" | "expires_at"> & Partial<Pick<Token, "allowed_ips">>;

/** Creates a token. */
export function reserveToken(change: Change, by: By, environment: Environment, draft: Draft): NewToken {
  const added = addToken(change, by, { environment, draft, replaces: null });
  const { id, name, unique_name = name } = added.token;
  change.claim(keys.tokenName(change.accountId, unique_name), "name", id);
  return added;
}

interface Rotation {
  environment: Environment;
  old: TokenRecord;
  overlapHours: number;
}

/**
 * Creates a token in the place of another one, which expires after the overlap. The new one has the lifetime of the old one.
 * `ended`: what that changes of the old one.
 */
export function rotateToken(
  change: Change,
  by: By,
  { environment, old, overlapHours }: Rotation,
): NewToken & { ended: Pick<TokenRecord, "replaced_by" | "expires_at"> } {
  const [at, ends] = [Date.now(), old.expires_at === null ? Infinity : Date.parse(old.expires_at)];
  const lifetime = ends - Date.parse(old.created_at);
  const expires_at = lifetime === Infinity ? null : new Date(at + lifetime).toISOString();
  const draft = { ...old, expires_at };
  const added = addToken(change, by, { environment, draft, replaces: old.id });
  const overlapEnds = Math.min(ends, at + overlapHours * HOUR_MS);
  const ended = { replaced_by: added.token.id, expires_at: new Date(overlapEnds).toISOString() };
  change.writeFirst(
    update(labelRef(change.accountId, old.id).key, { set: ended }, { unchanged: { replaced_by: null } }, (label) =>
      label === undefined ? notFound("API token") : tokenRotated(),
    ),
  );
  change.update(tokenAccessRef(old.id).key, { set: { expires_at: overlapEnds } }, { equals: { hash: old.hash } });
  change.update(
    keys.tokenName(change.accountId, old.unique_name ?? old.name),
    { set: { owner_id: added.token.id } },
    { exists: false },
  );
  return { ...added, ended };
}

/** Each once: a set of the table has no two that are the same. */
function networksIn(allowed: readonly string[]): Uint8Array[] {
  const networks = allowed.flatMap((each) => parseNetwork(each) ?? []);
  return [...new Map(networks.map((network) => [networkInText(network), network])).values()];
}

interface Addition {
  environment: Environment;
  draft: Draft;
  replaces: string | null;
}

function addToken(change: Change, by: By, { environment, draft, replaces }: Addition): NewToken {
  const value = newTokenValue(environment);
  const hash = hashToken(value);
  const id = tokenIdFor(hash, Date.now());
  const label = {
    id,
    name: draft.name,
    unique_name: uniqueForm(draft.name),
    prefix: tokenPrefix(environment),
    last4: value.slice(-4),
    created_at: now(),
    created_by: toActor(by),
    replaces,
    replaced_by: null,
  };
  const access = {
    ...storeAccess(
      { id, account_id: change.accountId, permissions: toBits(draft.permissions) },
      networksIn(draft.allowed_ips ?? []),
    ),
    hash,
    ...(draft.expires_at !== null && { expires_at: Date.parse(draft.expires_at) }),
    ...everySlotFree(),
  };
  change.use("token", 1);
  change.put(tokenAccessRef(id).key, access);
  change.put(labelRef(change.accountId, id).key, label);
  return { token: toTokenRecord(TokenAccess.parse(access), label), value };
}

/** Revokes a token: the very next request with it finds nothing. */
export function revokeToken(change: Change, token: TokenRecord): void {
  change.use("token", -1);
  change.remove(tokenAccessRef(token.id).key, { equals: { hash: token.hash } }, () => notFound("API token"));
  const { replaced_by } = token;
  change.remove(labelRef(change.accountId, token.id).key, { unchanged: { replaced_by } }, (label) =>
    label === undefined ? notFound("API token") : rotatedMeanwhile(token.id),
  );
  // After a rotation the name is the new token's.
  if (replaced_by === null) change.remove(keys.tokenName(change.accountId, token.unique_name ?? token.name));
}

const rotatedMeanwhile = (id: string): Error =>
  new Overtaken("Another request rotated the token at the same time; try again", id);
