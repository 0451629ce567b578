// Where the archive of a backup lies in the store: below its account, so that what belongs to one can be found together.
export const archiveKey = ({ account_id, id }: { account_id: string; id: string }): string =>
  `accounts/${account_id}/backups/${id}.zip`;
