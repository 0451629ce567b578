// GET /ssh-keys
import * as sshKeys from "../../shared/api/ssh-keys.ts";
import { smallPage } from "../../shared/data/pages.ts";
import { allSshKeys } from "../../shared/records/ssh-keys.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(sshKeys.list)(async ({ query, caller }) =>
  smallPage(await allSshKeys(caller.account_id), query, "ssh_key"),
);
