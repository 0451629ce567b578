// The daily look at the TXT records of verified domains.
import { beforeAll, expect, test } from "vitest";
import { checkDomains } from "../../shared/operations/sign-in/sso-domains.ts";
import { domainClaimRef, ssoRef } from "../../shared/records/sso.ts";
import { find } from "../../shared/data/table.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { seedSso } from "../harness/seed.ts";

const DAY_MS = 86_400_000;

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const isVerified = async (): Promise<boolean | undefined> => (await find(ssoRef(me.id)))?.domains[0]?.verified;

test("a domain without its record for seven days is no longer verified, which is an event; one look more each day is enough to keep it", async () => {
  const name = uniqueDomain();
  await seedSso(me.id, { domains: [{ name, proof: "p", verified: true }] });
  const began = Date.now();
  await me.api.put(`/sandbox/dns/${name}`, { txt: [`erp-sso=${me.id}.p`] });
  await checkDomains(me.id, began + 3 * DAY_MS);
  expect((await find(domainClaimRef(name)))?.seen_at).toBe(new Date(began + 3 * DAY_MS).toISOString());

  await me.api.put(`/sandbox/dns/${name}`, { txt: [] });
  for (const days of [4, 9.9]) {
    await checkDomains(me.id, began + days * DAY_MS);
    expect(await isVerified(), `${days} days`).toBe(true);
  }
  // It was looked for a moment ago.
  await checkDomains(me.id, began + 10.1 * DAY_MS);
  expect(await isVerified()).toBe(true);
  await checkDomains(me.id, began + 11 * DAY_MS);
  expect(await isVerified()).toBe(false);
  expect(await find(domainClaimRef(name))).toBeUndefined();
  expect((await me.api.get("/events?class=outcomes&type=sso.domain_unverified")).text).toContain(name);
  await checkDomains(me.id, began + 12 * DAY_MS); // nothing is left to do
});
