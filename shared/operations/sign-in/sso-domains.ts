// Looks once a day whether an account's verified domains still have their TXT records.
import { Overtaken, startChange } from "../../data/change.ts";
import { ConditionFailed, find } from "../../data/table.ts";
import { DAY_MS, HOUR_MS } from "../../domain/durations.ts";
import { SSO } from "../../domain/limits.ts";
import { getAccount } from "../../records/accounts.ts";
import { logOutcome, serviceAuthor } from "../../records/events.ts";
import type { SsoRecord, StoredDomain } from "../../records/schemas/sso.ts";
import { domainClaimRef, loseDomain, recordDomainCheck, ssoRef, txtRecord } from "../../records/sso.ts";
import { txtRecords } from "./txt-records.ts";

/** Less than a day, because the schedule runs every six hours. */
const EVERY_MS = 20 * HOUR_MS;
const UNSEEN_MS = SSO.unseenDays * DAY_MS;

const SERVICE = serviceAuthor("Single sign-on", "sso");

export async function checkDomains(accountId: string, now: number): Promise<void> {
  const sso = await find(ssoRef(accountId));
  // One after the other: losing one changes the record that the next one is in.
  for (const { name, verified } of sso?.domains ?? []) if (verified) await checkDomain(accountId, name, now);
}

async function checkDomain(accountId: string, name: string, now: number): Promise<void> {
  const [sso, claim] = await Promise.all([find(ssoRef(accountId)), find(domainClaimRef(name))]);
  const domain = sso?.domains.find((each) => each.name === name && each.verified);
  if (sso === undefined || domain === undefined || claim?.account_id !== accountId) return;
  if (Date.parse(claim.looked_at) > now - EVERY_MS) return;
  const isSeen = await hasTxtRecord(sso, domain);
  if (isSeen || Date.parse(claim.seen_at) > now - UNSEEN_MS) {
    await recordDomainCheck(name, accountId, new Date(now).toISOString(), isSeen);
    return;
  }
  const change = startChange(await getAccount(accountId));
  loseDomain(change, sso, domain, claim);
  const about = { type: "account", id: accountId, name: null } as const;
  const changes = [{ field: "domains", before: name, after: null }];
  logOutcome(change, SERVICE, { type: "sso.domain_unverified", changes }, about);
  await change.commit().catch((error: unknown) => {
    if (!(error instanceof ConditionFailed || error instanceof Overtaken)) throw error; // verified or changed meanwhile: the next run looks again
  });
}

/** Whether the domain has the record that the account was given for it. */
export const hasTxtRecord = async (sso: SsoRecord, domain: StoredDomain): Promise<boolean> =>
  (await txtRecords(sso.account_id, domain.name)).includes(txtRecord(sso.account_id, domain));
