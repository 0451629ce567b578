// The key of a backup's archive in the storage: prefixed with its account, so that an account's archives are found together.
export const archiveKey = ({ account_id, id }: { account_id: string; id: string }): string =>
  `accounts/${account_id}/backups/${id}.zip`;

/** The same for an upload, which becomes a backup. */
export const buildArchiveKey = ({ account_id, backup_id }: { account_id: string; backup_id: string }): string =>
  archiveKey({ account_id, id: backup_id });
