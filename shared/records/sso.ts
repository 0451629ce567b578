// Single sign-on in the table: an account's provider, its domains, and which of the provider's people its users are.
import { randomBytes } from "node:crypto";
import * as z from "zod";
import type { FieldChange } from "../api/events.ts";
import { domainTaken, invalid, notFound } from "../api/errors.ts";
import { Sso, type SsoDomain, SSO_UNVERSIONED, type SsoUpdate } from "../api/sso.ts";
import { type Change, Overtaken } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { find, type Ref, updateOne } from "../data/table.ts";
import { computeVersion, type Version } from "../data/versions.ts";
import { check } from "../data/writes.ts";
import { unicodeDomain } from "./unicode-names.ts";
import { seal, unsealPresented } from "../platform/sealing.ts";
import { changesBetween } from "./audit-changes.ts";
import { DomainClaim, SsoRecord, type StoredDomain } from "./schemas/sso.ts";
import type { UserRecord } from "./schemas/user.ts";
import { allUsers, userRef } from "./users.ts";

export const ssoRef = (accountId: string): Ref<SsoRecord> => ({ key: keys.sso(accountId), schema: SsoRecord });
export const domainClaimRef = (name: string): Ref<DomainClaim> => ({ key: keys.ssoDomain(name), schema: DomainClaim });

export function requireSso(sso: SsoRecord | undefined): SsoRecord {
  if (sso === undefined) throw notFound("single sign-on");
  return sso;
}

/** The account's own, and the random part: whoever can set it at the domain has both from us. */
export const txtRecord = (accountId: string, { proof }: StoredDomain): string => `erp-sso=${accountId}.${proof}`;

export const showDomain = (accountId: string, domain: StoredDomain): SsoDomain => ({
  name: domain.name,
  name_unicode: unicodeDomain(domain.name),
  verified: domain.verified,
  txt_record: txtRecord(accountId, domain),
});

/** Returns the URL to which a provider sends people back. */
export const redirectUri = (origin: string): string => `${origin}/sso`;

export const showSso = (sso: SsoRecord, origin: string): Sso => ({
  ...sso,
  domains: sso.domains.map((domain) => showDomain(sso.account_id, domain)),
  redirect_uri: redirectUri(origin),
});

export const ssoVersion = (sso: SsoRecord): Version =>
  computeVersion(ssoRef(sso.account_id), sso, {
    publicSchema: Sso,
    unversioned: SSO_UNVERSIONED,
    represent: ({ account_id, domains }) => ({ domains: domains.map((domain) => showDomain(account_id, domain)) }),
  });

/** Binds a secret to the provider that it was given for: another one cannot be made to receive it. */
const secretContext = ({ account_id, issuer }: Pick<SsoRecord, "account_id" | "issuer">): string =>
  `sso secret ${account_id} ${issuer}`;

/** Undefined once the service's key has been replaced twice since it was set. */
export const openClientSecret = (sso: SsoRecord): Promise<string | undefined> =>
  unsealPresented(sso.client_secret, secretContext(sso));

const changedMeanwhile = (accountId: string): Error =>
  new Overtaken("Another request changed the single sign-on at the same time; read it and try again if you need to", accountId);

const newLinks = (): string => randomBytes(9).toString("base64url");
const newProof = (): string => randomBytes(18).toString("base64url");

/** Sets what there is from now on; domains that go no longer belong to the account. */
export async function setSso(
  change: Change,
  current: SsoRecord | undefined,
  { client_secret, ...fields }: SsoUpdate,
): Promise<SsoRecord> {
  const { accountId: account_id } = change;
  const isSame = current?.issuer === fields.issuer;
  const storedSecret = isSame ? current?.client_secret : undefined;
  const secret =
    client_secret === undefined ? storedSecret : await seal(client_secret, secretContext({ account_id, issuer: fields.issuer }));
  if (secret === undefined) throw invalid({ field: "client_secret", reason: "is required" });
  const before = new Map((current?.domains ?? []).map((domain) => [domain.name, domain]));
  const domains = fields.domains.map(({ name }) => before.get(name) ?? { name, proof: newProof(), verified: false });
  const set: SsoRecord = {
    ...fields,
    account_id,
    client_secret: secret,
    domains,
    links: isSame && current !== undefined ? current.links : newLinks(),
    updated_at: change.at,
  };
  writeSso(change, current, set);
  const names = new Set(domains.map(({ name }) => name));
  for (const domain of before.values()) if (domain.verified && !names.has(domain.name)) releaseDomain(change, domain.name);
  return set;
}

const CHANGED = ["issuer", "client_id", "client_secret", "domains", "default_role", "role_claim", "roles", "required"];

/** Lists the changes for the audit log: of domains the names, of the secret only that it has changed. */
export const ssoChanges = (before: SsoRecord | undefined, after: SsoRecord | undefined): FieldChange[] =>
  changesBetween(auditable(before), auditable(after), CHANGED);

const auditable = (sso: SsoRecord | undefined): object =>
  sso === undefined ? {} : { ...sso, domains: sso.domains.map(({ name }) => name) };

function writeSso(change: Change, current: SsoRecord | undefined, set: SsoRecord): void {
  const { key } = ssoRef(change.accountId);
  if (current === undefined) change.put(key, set, () => changedMeanwhile(change.accountId));
  else change.update(key, { set }, { equals: { updated_at: current.updated_at } }, () => changedMeanwhile(change.accountId));
}

export function removeSso(change: Change, sso: SsoRecord): void {
  change.remove(ssoRef(sso.account_id).key, { equals: { updated_at: sso.updated_at } }, () => changedMeanwhile(sso.account_id));
  for (const { name, verified } of sso.domains) if (verified) releaseDomain(change, name);
}

const releaseDomain = (change: Change, name: string): void =>
  change.remove(domainClaimRef(name).key, { exists: false, unchanged: { account_id: change.accountId } });

const withDomain = (sso: SsoRecord, domain: StoredDomain, at: string): SsoRecord => ({
  ...sso,
  domains: sso.domains.map((each) => (each.name === domain.name ? domain : each)),
  updated_at: at,
});

/** The domain is the account's from now on; throws 409 if it is another one's. */
export function claimDomain(change: Change, sso: SsoRecord, domain: StoredDomain): StoredDomain {
  const claim = { account_id: sso.account_id, seen_at: change.at, looked_at: change.at };
  change.update(
    domainClaimRef(domain.name).key,
    { set: claim },
    { exists: false, unchanged: { account_id: sso.account_id } },
    domainTaken,
  );
  const verified = { ...domain, verified: true };
  writeSso(change, sso, withDomain(sso, verified, change.at));
  return verified;
}

/** Its people can no longer sign in here, and another account may verify it. */
export function loseDomain(change: Change, sso: SsoRecord, domain: StoredDomain, claim: DomainClaim): void {
  change.remove(domainClaimRef(domain.name).key, { equals: { account_id: sso.account_id, seen_at: claim.seen_at } });
  writeSso(change, sso, withDomain(sso, { ...domain, verified: false }, change.at));
}

/** Notes that a domain's TXT record was looked for. */
export const recordDomainCheck = (name: string, accountId: string, at: string, isSeen: boolean) =>
  updateOne(
    domainClaimRef(name).key,
    { set: { looked_at: at, ...(isSeen && { seen_at: at }) } },
    { equals: { account_id: accountId } },
  );

const domainIn = (email: string): string => email.slice(email.lastIndexOf("@") + 1).toLowerCase();

/** The verified domain of an email, if it is one of these. */
export const findVerifiedDomain = ({ domains }: SsoRecord, email: string): StoredDomain | undefined =>
  domains.find(({ name, verified }) => verified && name === domainIn(email));

/** The single sign-on of the account that an email's domain belongs to; `email` in ASCII. */
export async function findSsoFor(email: string): Promise<SsoRecord | undefined> {
  const claim = await find(domainClaimRef(domainIn(email)));
  const sso = claim && (await find(ssoRef(claim.account_id)));
  return sso !== undefined && findVerifiedDomain(sso, email) !== undefined ? sso : undefined;
}

const Link = z.object({ user_id: z.string() });

/** The user that a person of the provider is linked to. */
export async function findLinked({ account_id, links }: SsoRecord, subject: string): Promise<UserRecord | undefined> {
  const link = await find({ key: keys.ssoLink(account_id, links, subject), schema: Link });
  const user = link && (await find(userRef(link.user_id)));
  return user?.sso?.links === links && user.sso.subject === subject && user.account_id === account_id ? user : undefined;
}

/**
 * A person of the provider is this user and nobody else. A link to a user whom an earlier version has removed, which leaves it,
 * is replaced.
 */
export async function claimPerson(change: Change, sso: SsoRecord, userId: string, subject: string): Promise<void> {
  const key = keys.ssoLink(sso.account_id, sso.links, subject);
  const stale = await find({ key, schema: Link });
  if ((await findLinked(sso, subject)) !== undefined) throw linkedMeanwhile(userId);
  change.update(key, { set: { user_id: userId } }, { exists: false, same: { user_id: stale?.user_id } }, () =>
    linkedMeanwhile(userId),
  );
}

const linkedMeanwhile = (userId: string): Error =>
  new Overtaken("Another request changed the user at the same time; try again", userId);

/** Writes nothing unless single sign-on is as it was read. */
export const requireSameSso = (change: Change, { account_id, links, updated_at }: SsoRecord, otherwise: () => Error): void =>
  change.write(check(keys.sso(account_id), { equals: { links, updated_at } }, otherwise));

/** Takes their link from all who are not linked to the present provider. Once it has changed, no old link signs anybody in. */
export async function unlinkOthers(accountId: string): Promise<void> {
  const users = await allUsers(accountId);
  // Read after them: whoever is linked to another one by then is linked to an earlier one.
  const current = await find(ssoRef(accountId));
  for (const { id, sso } of users)
    if (sso !== undefined && sso.links !== current?.links)
      await updateOne(userRef(id).key, { remove: ["sso"] }, { equals: { sso } });
}
