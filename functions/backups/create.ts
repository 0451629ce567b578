// POST /instances/:id/backups
import { api } from "../../shared/api/index.ts";
import { accountRef, presentAccount } from "../../shared/data/accounts.ts";
import { beginBackup, toBackup } from "../../shared/data/backups.ts";
import { changeOf } from "../../shared/data/change.ts";
import { instanceRef, presentInstance } from "../../shared/data/instances.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.backups.create)(async ({ params, body, caller, by, read, commit }) => {
  const { account, instance } = await read({
    account: accountRef(caller.account_id),
    instance: instanceRef(caller.account_id, params.id),
  });
  const present = presentInstance(instance);
  const change = changeOf(presentAccount(account));
  const { backup } = beginBackup(change, by, present, body.note ?? null);
  return commit(change, toBackup(backup));
});
