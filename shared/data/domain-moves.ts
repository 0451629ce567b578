// Undoing an instance's move to a new domain.
import * as z from "zod";
import { changeOf, now } from "./change.ts";
import { keys } from "./keys.ts";
import type { InstanceRecord } from "./records.ts";
import { find } from "./table.ts";

const Marker = z.object({ owner_id: z.string() });

/** Gives the instance its old domain back and frees the new one. Idempotent. */
export async function returnDomain(instance: InstanceRecord, domains: { old: string; new: string }): Promise<void> {
  const { account_id: accountId, id } = instance;
  const ownerOf = async (domain: string) => (await find({ key: keys.domain(accountId, domain), schema: Marker }))?.owner_id;
  const change = changeOf({ id: accountId });
  if (instance.domain === domains.new) {
    const owner = await ownerOf(domains.old);
    // Another instance has taken the freed domain: the record stays correct, because the instance has the new domain.
    if (owner !== undefined && owner !== id) return;
    if (owner === undefined) change.claim(keys.domain(accountId, domains.old), "domain", id);
    const set = { domain: domains.old, updated_at: now() };
    change.update(keys.record("instance", accountId, id), { set }, { equals: { domain: domains.new } });
    change.refind("instance", id, { domain: domains.old });
  }
  // Only our own: a second run must not take what another instance has claimed since the first.
  if ((await ownerOf(domains.new)) === id) change.remove(keys.domain(accountId, domains.new), { equals: { owner_id: id } });
  if (change.writes().length > 0) await change.commit();
}
