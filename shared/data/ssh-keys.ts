// SSH keys in the table.
import { notFound } from "../api/errors.ts";
import { SshKey } from "../api/ssh-keys.ts";
import { isId, newId } from "../domain/ids.ts";
import { type Change, now } from "./change.ts";
import { keys } from "./keys.ts";
import { SshKeyRecord } from "./records.ts";
import { find, queryAll, type Ref } from "./table.ts";
import { type Version, versionOf } from "./versions.ts";

export const sshKeyRef = (accountId: string, id: string): Ref<SshKeyRecord> => ({
  key: keys.record("ssh_key", accountId, id),
  schema: SshKeyRecord,
});

export async function getSshKey(accountId: string, id: string): Promise<SshKeyRecord> {
  return presentSshKey(isId("ssh_key", id) ? await find(sshKeyRef(accountId, id)) : undefined);
}

export function presentSshKey(key: SshKeyRecord | undefined): SshKeyRecord {
  if (key === undefined) throw notFound("SSH key");
  return key;
}

export const sshKeyVersion = (key: SshKeyRecord): Version =>
  versionOf(sshKeyRef(key.account_id, key.id), key, { shown: SshKey, unversioned: [] });

/** All of an account's, at most 100. */
export async function allSshKeys(accountId: string): Promise<SshKeyRecord[]> {
  return (await queryAll(keys.sshKeys(accountId), { consistent: true })).map((item) => SshKeyRecord.parse(item));
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
