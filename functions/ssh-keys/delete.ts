// DELETE /ssh-keys/:id
import { api } from "../../shared/api/index.ts";
import { accountRef, presentAccount } from "../../shared/data/accounts.ts";
import { changeOf, logEvent } from "../../shared/data/change.ts";
import { presentSshKey, removeSshKey, sshKeyRef, sshKeyVersion } from "../../shared/data/ssh-keys.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.sshKeys.delete)(async ({ params, caller, by, read, commit, match }) => {
  const { account, sshKey } = await read({
    account: accountRef(caller.account_id),
    sshKey: sshKeyRef(caller.account_id, params.id),
  });
  const key = presentSshKey(sshKey);
  const change = changeOf(presentAccount(account));
  match(change, sshKeyVersion(key));
  removeSshKey(change, key);
  logEvent(change, by, "ssh_key.delete", { type: "ssh_key", id: key.id, name: key.name });
  return commit(change, { id: key.id, deleted: true });
});
