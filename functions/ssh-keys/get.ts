// GET /ssh-keys/:id
import { api } from "../../shared/api/index.ts";
import { getSshKey } from "../../shared/records/ssh-keys.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(api.sshKeys.get)(({ params, caller }) => getSshKey(caller.account_id, params.id));
