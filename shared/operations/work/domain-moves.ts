// An instance's move to a new domain: what it excludes while it is in progress, and its undo.
import * as z from "zod";
import { operationInProgress } from "../../api/errors.ts";
import { isOpen } from "../../domain/lifecycle.ts";
import { startChange, now } from "../../data/change.ts";
import { keys } from "../../data/keys.ts";
import { findOperation } from "../../records/operations.ts";
import { previousDomains } from "../../records/redirects.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import { find } from "../../data/table.ts";

/** Who asks for the present domain while it is being changed would be told that nothing is to be done, and then lose it. */
export async function requireNotMoving({ account_id, operation_id }: InstanceRecord): Promise<void> {
  if (operation_id === null) return;
  const operation = await findOperation(account_id, operation_id);
  if (operation?.type === "instance.update" && isOpen(operation.state)) throw operationInProgress(operation_id);
}

const Marker = z.object({ owner_id: z.string() });

interface Domains {
  old: string;
  new: string;
}

const findOwner = async (accountId: string, domain: string): Promise<string | undefined> =>
  (await find({ key: keys.domain(accountId, domain), schema: Marker }))?.owner_id;

/**
 * Takes the old domain again, before the machine serves it again: false if another instance has taken it meanwhile, so that this
 * one keeps the new domain. Idempotent.
 */
export async function reclaimDomain({ account_id: accountId, id, domain }: InstanceRecord, domains: Domains): Promise<boolean> {
  if (domain !== domains.new) return true; // it still has the old one
  const owner = await findOwner(accountId, domains.old);
  if (owner !== undefined) return owner === id;
  const change = startChange({ id: accountId });
  change.claim(keys.domain(accountId, domains.old), "domain", id);
  await change.commit();
  return true;
}

/** Gives the instance its old domain back, if no other has taken it, and frees the new one. Idempotent. */
export async function returnDomain(instance: InstanceRecord, domains: Domains): Promise<void> {
  if (!(await reclaimDomain(instance, domains))) return;
  const { account_id: accountId, id } = instance;
  const change = startChange({ id: accountId });
  if (instance.domain === domains.new) {
    const previous_domains = previousDomains(instance, domains.old);
    const set = { domain: domains.old, previous_domains, updated_at: now() };
    change.update(keys.record("instance", accountId, id), { set }, { equals: { domain: domains.new } });
    change.setSearchFields("instance", id, { domain: domains.old });
    change.remove(keys.redirect(accountId, domains.old), { exists: false });
  }
  // Only our own claim is removed: a second run must not take what another instance has claimed since the first.
  if ((await findOwner(accountId, domains.new)) === id)
    change.remove(keys.domain(accountId, domains.new), { equals: { owner_id: id } });
  if (change.writes().length > 0) await change.commit();
}
