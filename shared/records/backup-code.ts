// The code of the instance that a backup is of. A backup keeps it, so that whatever is made of it can have the same code, also
// when the instance is gone or has other code by then.
import { keys } from "../data/keys.ts";
import { find } from "../data/table.ts";
import { codeRef, withCurrentCredentials } from "./code.ts";
import type { BackupRecord } from "./schemas/backup.ts";
import { BackupCode, type CodeRecord } from "./schemas/code.ts";

/** Undefined if its instance's ERP had none. */
export const findBackupCode = async ({
  account_id,
  id,
  with_code,
}: Pick<BackupRecord, "account_id" | "id" | "with_code">): Promise<BackupCode | undefined> =>
  with_code === true ? find({ key: keys.backupCode(account_id, id), schema: BackupCode }) : undefined;

/** Returns the code as it can be fetched now: with the tokens that its instance has, as long as that exists. */
export async function withInstanceCredentials(stored: BackupCode): Promise<BackupCode> {
  const current = await find(codeRef(stored.code.account_id, stored.instance_id));
  return { ...stored, code: withCurrentCredentials(current, stored.code) };
}

/** Returns what an archive's manifest says of the code: nothing of it is secret. */
export const codeInManifest = (code: BackupCode | undefined) =>
  code && {
    repositories: code.commits.map(({ url, ref, path, commit }) => ({ url, ref, path, commit })),
    python_packages: code.python_packages,
  };

/** Secrets lead to what a copy that is neutralized must leave alone. */
export const withoutSecrets = ({ environment, ...code }: CodeRecord): CodeRecord => ({
  ...code,
  environment: environment.filter(({ secret }) => secret === undefined),
});
