// POST /ssh-keys
import * as sshKeys from "../../shared/api/ssh-keys.ts";
import { logEvent } from "../../shared/records/events.ts";
import { reserveSshKey } from "../../shared/records/ssh-keys.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { parseSshKey } from "../../shared/runtime/ssh-key.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(sshKeys.create)(async ({ body, caller, by, read, commit }) => {
  const parsed = parseSshKey(body.public_key);
  const { change } = await beginChange({ caller, read }, {});
  const key = reserveSshKey(change, { name: body.name, ...parsed });
  logEvent(change, by, "ssh_key.create", { type: "ssh_key", id: key.id, name: key.name });
  return commit(change, key);
});
