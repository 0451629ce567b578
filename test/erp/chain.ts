// What the live environment guarantees, checked in sequence on one machine from outside: by the API and by the ERP itself.
import { backUpShop } from "./backing-up.ts";
import { backUpUnderLoad } from "./backups-under-load.ts";
import { clone } from "./cloning.ts";
import { type BackedUp, type Chain, chainOn } from "./context.ts";
import { shareDisk } from "./disk.ts";
import { drills } from "./drills.ts";
import { install } from "./installing.ts";
import { leave } from "./leaving.ts";
import type { Machine } from "./machine.ts";
import { moveIn } from "./moving-in.ts";
import { survive } from "./outages.ts";
import { network } from "./network.ts";
import { release } from "./releasing.ts";
import { restore } from "./restoring.ts";
import { run } from "./running.ts";
import { slowClients } from "./slow-clients.ts";
import type { Service } from "./service.ts";
import { watch } from "./watching.ts";

/** In this order; each leaves the instance as the backup has it, or running at least. */
const PARTS: Readonly<Record<string, (chain: Chain, of: BackedUp) => Promise<void>>> = {
  leave,
  moveIn,
  drills,
  restore,
  clone,
  survive,
  run,
  watch,
  network,
  slowClients,
  shareDisk,
  backUpUnderLoad,
};

/** All parts, or the named ones alone: installation, first backup and release belong to each. */
export async function chain(
  machine: Machine,
  service: Service,
  only: readonly string[],
): Promise<{ passed: number; failed: number }> {
  const unknown = only.filter((name) => !Object.hasOwn(PARTS, name));
  if (unknown.length > 0) throw new Error(`There is no part ${unknown.join(", ")}, only ${Object.keys(PARTS).join(", ")}`);
  const steps = chainOn(machine, service);
  try {
    const shop = await install(steps);
    const backedUp = { ...shop, backup: await backUpShop(steps, shop) };
    for (const [name, part] of Object.entries(PARTS)) if (only.length === 0 || only.includes(name)) await part(steps, backedUp);
    await release(steps, shop);
  } catch (error) {
    // A guarantee has reported its own failure.
    if (steps.counts.failed === 0) console.error(error);
    console.log("  The rest builds on this and was not tried.");
    steps.counts.failed ||= 1;
  }
  return steps.counts;
}
