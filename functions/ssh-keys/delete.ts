// DELETE /ssh-keys/:id
import * as sshKeys from "../../shared/api/ssh-keys.ts";
import { logEvent } from "../../shared/records/events.ts";
import { requireSshKey, removeSshKey, sshKeyRef, sshKeyVersion } from "../../shared/records/ssh-keys.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(sshKeys.delete)(async ({ params, caller, by, read, commit, match }) => {
  const { change, sshKey } = await beginChange({ caller, read }, { sshKey: sshKeyRef(caller.account_id, params.id) });
  const key = requireSshKey(sshKey);
  match(change, sshKeyVersion(key));
  removeSshKey(change, key);
  logEvent(change, by, "ssh_key.delete", { type: "ssh_key", id: key.id, name: key.name });
  return commit(change, { id: key.id, deleted: true });
});
