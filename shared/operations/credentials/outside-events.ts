// Events of API tokens that were used from outside their networks, from what the authorizer has noted.
import { startChange, tryCommit } from "../../data/change.ts";
import { keys } from "../../data/keys.ts";
import { find } from "../../data/table.ts";
import { getAccount } from "../../records/accounts.ts";
import { logOutcome } from "../../records/events.ts";
import { listOutsideUses, type OutsideUse } from "../../records/outside-uses.ts";
import type { Caller } from "../../records/schemas/caller.ts";
import { labelRef } from "../../records/tokens.ts";

/** Writes the event of each use that has none yet. */
export async function reportOutsideUses(): Promise<void> {
  for (const use of await listOutsideUses()) if (use.told !== true) await reportOutsideUse(use);
}

async function reportOutsideUse({ account_id, token_id, ip_address, request_id, at }: OutsideUse): Promise<void> {
  const label = await find(labelRef(account_id, token_id));
  if (label === undefined) return; // revoked since
  const change = startChange(await getAccount(account_id));
  change.update(keys.outsideUse(token_id), { set: { told: true } }, { equals: { at }, none: ["told"] });
  const caller: Caller = { account_id, type: "token", id: token_id, name: label.name, permissions: [], ip_address };
  const about = { type: "token", id: token_id, name: label.name } as const;
  logOutcome(change, { caller, requestId: request_id }, { type: "token.used_outside" }, about);
  await tryCommit(change); // unless a concurrent run has told it
}
