// GET /ssh-keys/:id
import * as sshKeys from "../../shared/api/ssh-keys.ts";
import { getSshKey } from "../../shared/records/ssh-keys.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(sshKeys.get)(({ params, caller }) => getSshKey(caller.account_id, params.id));
