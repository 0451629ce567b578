// What the providers of virtual machines have in common: they list our machines by label and delete them one at a time, and they
// fail in the same ways.
import * as z from "zod";
import { log } from "../platform/log.ts";
import { GiveUp } from "../platform/task-errors.ts";
import { initialSshTrust, SYSTEMS } from "./first-boot.ts";
import type { MachineOwner, Order, Provider, RequestedMachine } from "./provider.ts";
import { because } from "../domain/reasons.ts";

export interface Options {
  token: string;
  address?: string | undefined;
  /** Labels our machines. */
  deployment: string;
}

export const Identified = z.object({ id: z.number() });
export type Identified = z.infer<typeof Identified>;
/** The response to a deletion, whose content does not matter. */
export const Done = z.unknown().transform(() => true);

/** A machine that was ordered for an operation, and how to trust it. */
export const orderedMachine = async ({ id }: Identified, operationId: string): Promise<RequestedMachine> => ({
  machine_id: String(id),
  ...(await initialSshTrust(operationId)),
});

/** An order that `send` sends. */
export async function placeOrder(operationId: string, send: () => Promise<Identified>): Promise<Order> {
  const trust = await initialSshTrust(operationId);
  return async () => ({ machine_id: String((await send()).id), ...trust });
}

/** `remove` is true once the provider does not have the machine any more. */
export function releaseMethods(
  ofServer: (owner: MachineOwner) => Promise<readonly Identified[]>,
  remove: (id: string) => Promise<boolean>,
): Pick<Provider, "releaseMachine" | "releaseOthers"> {
  return {
    releaseMachine: async (owner) => {
      const ids = new Set((await ofServer(owner)).map(({ id }) => String(id)));
      if (owner.machine_id !== null) ids.add(owner.machine_id);
      let isGone = true;
      for (const id of ids) isGone = (await remove(id)) && isGone;
      return { isGone };
    },
    releaseOthers: async (owner) => {
      const others = (await ofServer(owner)).filter(({ id }) => String(id) !== owner.machine_id);
      for (const { id } of others) await remove(String(id));
    },
  };
}

/** A machine of this deployment that does not say whose it is: no program may delete it, so a person has to look. */
export function noOwner(provider: string, id: number): [] {
  log.warn("a machine has this deployment's label, but not those of its server, and is left out", { provider, machine: id });
  return [];
}

/** The first of several images with our preferred system. */
export function supportedImage<T>(
  name: string,
  images: readonly T[],
  isOf: (image: T, system: (typeof SYSTEMS)[number]) => boolean,
): T {
  for (const system of SYSTEMS) {
    const image = images.find((each) => isOf(each, system));
    if (image !== undefined) return image;
  }
  throw new GiveUp("PROVIDER_ERROR", because("provider_lacks_system", { provider: name }));
}
