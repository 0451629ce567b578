// Domains that an instance had before the present one. Its machine redirects them for a while, unless another instance of the
// account takes one.
import * as z from "zod";
import { DAY_MS, DAY_SECONDS } from "../domain/durations.ts";
import { PREVIOUS_DOMAINS_MAX, REDIRECT_DAYS } from "../domain/limits.ts";
import { createRef } from "../data/by-id.ts";
import { type Change, now, Overtaken } from "../data/change.ts";
import { keys, keyString } from "../data/keys.ts";
import { InstanceRecord } from "./schemas/instance.ts";
import { find, type Ref } from "../data/table.ts";
import { keyOfWrite } from "../data/writes.ts";
import { ttlAfter } from "../data/ttl.ts";

/** Which instance redirects a domain. */
const Redirect = z.object({ owner_id: z.string() });
type Redirect = z.infer<typeof Redirect>;
export const redirectRef = (accountId: string, domain: string): Ref<Redirect> => ({
  key: keys.redirect(accountId, domain),
  schema: Redirect,
});

type Domains = Pick<InstanceRecord, "domain" | "previous_domains">;
type PreviousDomain = InstanceRecord["previous_domains"][number];

/** Those that still redirect, without one that the instance has again. */
export const previousDomains = ({ previous_domains }: Domains, current: string): PreviousDomain[] =>
  previous_domains.filter(({ domain, redirects_until }) => domain !== current && Date.parse(redirects_until) > Date.now());

/** The same once an instance has moved to another domain, by a request of this time; a second run changes nothing. */
export function previousDomainsAfter(instance: Domains, to: string, requestedAt: string): PreviousDomain[] {
  const otherDomains = previousDomains(instance, to);
  if (instance.domain === to) return otherDomains;
  const redirects_until = new Date(Date.parse(requestedAt) + REDIRECT_DAYS * DAY_MS).toISOString();
  return [{ domain: instance.domain, redirects_until }, ...otherDomains.filter(({ domain }) => domain !== instance.domain)].slice(
    0,
    PREVIOUS_DOMAINS_MAX,
  );
}

/** Domains that still redirect to an instance, and no longer once it has moved: it keeps the newest ones. */
export function redirectsEndedBy(instance: Domains, to: string): string[] {
  const after = previousDomainsAfter(instance, to, now()).map(({ domain }) => domain);
  return previousDomains(instance, to).flatMap(({ domain }) => (after.includes(domain) ? [] : [domain]));
}

/** Notes that the instance redirects the domain that it had until now, and no longer the one that it has again. */
export function recordRedirect(change: Change, instance: InstanceRecord, to: string, requestedAt: string): void {
  const { id, domain, previous_domains } = instance;
  const after = previousDomainsAfter(instance, to, requestedAt).map((each) => each.domain);
  removeRedirects(
    change,
    previous_domains.filter((each) => each.domain !== to && !after.includes(each.domain)),
  );
  const ttl = ttlAfter(REDIRECT_DAYS * DAY_SECONDS, Date.parse(requestedAt));
  change.update(keys.redirect(change.accountId, domain), { set: { owner_id: id, ttl } }, { exists: false });
  change.remove(keys.redirect(change.accountId, to), { exists: false });
}

/** What an instance redirected until now. */
export function removeRedirects(change: Change, domains: readonly { domain: string }[]): void {
  for (const { domain } of domains) change.remove(keys.redirect(change.accountId, domain), { exists: false });
}

/**
 * An instance takes a domain: whichever other instance had it before redirects it no longer. Its machine learns of it
 * with its next check. Returns that instance's ID.
 */
export async function endRedirect(
  change: Change,
  redirect: Redirect | undefined,
  { id, domain }: { id: string; domain: string },
): Promise<string | undefined> {
  if (redirect === undefined || redirect.owner_id === id) return undefined;
  change.remove(keys.redirect(change.accountId, domain), { exists: false });
  const owner = await find(createRef("instance", InstanceRecord)(change.accountId, redirect.owner_id));
  if (owner === undefined) return undefined; // deleted, with its site
  const { previous_domains } = owner;
  change.update(
    keys.record("instance", change.accountId, owner.id),
    { set: { previous_domains: previousDomains(owner, domain) } },
    { unchanged: { previous_domains } },
    () => new Overtaken("Another request changed the domain's redirect at the same time; try again", owner.id),
  );
  scheduleSettingsUpdate(change, owner.server_id, domain);
  return owner.id;
}

/** Has a machine learn with its next check of its instances' disk quotas, and of a domain that it no longer redirects. */
export function scheduleSettingsUpdate(change: Change, serverId: string, endedRedirect?: string): void {
  const key = keys.watchedServer(serverId);
  // One write an item: a quota is passed on with a redirect that was ended before.
  if (change.writes().some((write) => keyOfWrite(write) === keyString(key))) return;
  const add = endedRedirect === undefined ? {} : { add: { ended_redirects: new Set([endedRedirect]) } };
  change.update(key, { set: { quotas_changed_at: now() }, ...add });
}
