// Where a backup's archive lies in the bucket.

/** Below the account, so that what belongs to one can be found and removed together. */
export const archiveKey = ({ account_id, id }: { account_id: string; id: string }): string =>
  `accounts/${account_id}/backups/${id}.zip`;
