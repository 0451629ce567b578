// SSH keys in the table.
import { notFound } from "../api/errors.ts";
import { SshKey } from "../api/ssh-keys.ts";
import { newId } from "../domain/ids.ts";
import { createGetter, createRequirement, createRef } from "../data/by-id.ts";
import { type Change, now } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { SshKeyRecord } from "./schemas/ssh-key.ts";
import { queryAll } from "../data/table.ts";
import { type Version, computeVersion } from "../data/versions.ts";

export const sshKeyRef = createRef("ssh_key", SshKeyRecord);
export const requireSshKey = createRequirement<SshKeyRecord>("SSH key");
export const getSshKey = createGetter("ssh_key", sshKeyRef, requireSshKey);

export const sshKeyVersion = (key: SshKeyRecord): Version =>
  computeVersion(sshKeyRef(key.account_id, key.id), key, { publicSchema: SshKey, unversioned: [] });

/** All of an account's, at most 100. */
export async function allSshKeys(accountId: string): Promise<SshKeyRecord[]> {
  return parseEach(SshKeyRecord, await queryAll(keys.sshKeys(accountId), { consistent: true }));
}

export function reserveSshKey(change: Change, draft: Pick<SshKey, "name" | "public_key" | "fingerprint">): SshKeyRecord {
  const key: SshKeyRecord = { ...draft, id: newId("ssh_key"), account_id: change.accountId, created_at: now() };
  change.use("ssh_key", 1);
  change.put(sshKeyRef(change.accountId, key.id).key, key);
  return key;
}

export function removeSshKey(change: Change, key: SshKeyRecord): void {
  change.use("ssh_key", -1);
  change.remove(sshKeyRef(change.accountId, key.id).key, {}, () => notFound("SSH key"));
}
