// What the live environment guarantees, checked in sequence on one machine from outside: by the API and by the ERP itself.
import { backUpShop } from "./backing-up.ts";
import { backUpUnderLoad } from "./backups-under-load.ts";
import { clone } from "./cloning.ts";
import { type BackedUp, type Chain, chainOn } from "./context.ts";
import { deploy } from "./deploying.ts";
import { shareDisk } from "./disk.ts";
import { drills } from "./drills.ts";
import { install } from "./installing.ts";
import { integratorsWeek } from "./integrators-week.ts";
import { killDeploys } from "./killing-deploys.ts";
import { leave } from "./leaving.ts";
import type { Machine } from "./machine.ts";
import { moveIn } from "./moving-in.ts";
import { survive } from "./outages.ts";
import { network } from "./network.ts";
import { release } from "./releasing.ts";
import { renew } from "./renewing.ts";
import { restore } from "./restoring.ts";
import { run } from "./running.ts";
import { slowClients } from "./slow-clients.ts";
import { slowClientsAtSize } from "./slow-clients-at-size.ts";
import { see } from "./seeing.ts";
import type { Service } from "./service.ts";
import { watch } from "./watching.ts";

/** The parts, which run in this order; each leaves the instance as the backup has it, or running at least. */
const PARTS: Readonly<Record<string, (chain: Chain, of: BackedUp) => Promise<void>>> = {
  leave,
  moveIn,
  drills,
  restore,
  clone,
  survive,
  run,
  see,
  watch,
  deploy,
  renew,
  network,
  slowClients,
  shareDisk,
  backUpUnderLoad,
};

/** Parts that take long, and run only by name. */
const LONG_PARTS: typeof PARTS = { integratorsWeek, killDeploys, slowClientsAtSize };

/**
 * All parts, or the named ones alone: installation, first backup and release belong to each. A part that fails does not stop the
 * others.
 */
export async function chain(
  machine: Machine,
  service: Service,
  only: readonly string[],
): Promise<{ passed: number; failed: number }> {
  const all = { ...PARTS, ...LONG_PARTS };
  const unknown = only.filter((name) => !Object.hasOwn(all, name));
  if (unknown.length > 0) throw new Error(`There is no part ${unknown.join(", ")}, only ${Object.keys(all).join(", ")}`);
  const steps = chainOn(machine, service);
  const { counts } = steps;

  /** A guarantee has reported its own failure; anything else counts as one. */
  async function attempt(name: string, work: () => Promise<void>): Promise<void> {
    const { failed } = counts;
    try {
      await work();
    } catch (error) {
      if (counts.failed === failed) console.error(error);
      counts.failed = Math.max(counts.failed, failed + 1);
      console.log(`  The rest of ${name} builds on this and was not tried.`);
    }
  }

  await attempt("the chain", async () => {
    const shop = await install(steps);
    const backedUp = { ...shop, backup: await backUpShop(steps, shop) };
    for (const [name, part] of Object.entries(all))
      if (only.length === 0 ? Object.hasOwn(PARTS, name) : only.includes(name)) await attempt(name, () => part(steps, backedUp));
    await release(steps, shop);
  });
  return counts;
}
