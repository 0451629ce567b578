// What repairs what is left of an interrupted operation: the sweep, which runs every five minutes, at once.
import { keys } from "../../shared/data/keys.ts";
import { listMachines } from "../../shared/providers/sandbox/machines.ts";
import { queryAll, updateOne } from "../../shared/data/table.ts";
import type { TestCloud } from "../harness/facts.ts";

const LONG_AGO = "2026-01-01T00:00:00.000Z";

/** Lets the sweep look at everything of the account, as if it were old enough, and waits until all work has ended. */
export async function sweepAll(cloud: TestCloud, accountId: string): Promise<void> {
  for (const { pk, sk, account_id } of await queryAll(keys.open(), { consistent: true }))
    if (account_id === accountId)
      await updateOne({ pk: String(pk), sk: String(sk) }, { set: { created_at: LONG_AGO } }, { exists: true });
  for (const { machine_id, account_id } of await listMachines())
    if (account_id === accountId)
      await updateOne(keys.sandboxMachine(machine_id), { set: { created_at: LONG_AGO } }, { exists: true });
  await cloud.events.fire("sweep");
  await cloud.states.settled();
}
