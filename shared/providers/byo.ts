// The operator's own machines, listed in the configuration: none is created, one is reserved.
import type { CatalogProvider } from "../api/catalog.ts";
import { recordOffer } from "../records/catalog.ts";
import { findTaken, freeMachine, type Taking, takeMachine, takenMachines } from "../records/taken-machines.ts";
import { because, type Reason } from "../domain/reasons.ts";
import { GiveUp } from "../platform/task-errors.ts";
import type { OwnMachine } from "../platform/configuration.ts";
import type { MachineRequest, Provider, RequestedMachine } from "./provider.ts";

const CODE = "byo";
const NAME = "Own machines";
const REGION = { code: "own", name: "On your premises" };

/** Each machine is its own size, with a stock of one. */
export function byo(machines: readonly OwnMachine[]): Provider {
  const findByName = (name: string): OwnMachine | undefined => machines.find((machine) => machine.name === name);

  async function catalog(): Promise<CatalogProvider> {
    const machinesInUse = await takenMachines();
    const sizes = machines
      .filter((machine) => !machinesInUse.some(({ name, address }) => name === machine.name || address === machine.address))
      .map(({ name, cpu, memory_gb, disk_gb }) => ({
        code: name,
        cpu,
        memory_gb,
        disk_gb,
        regions: [REGION.code],
        price: null,
        region_prices: {},
      }));
    return { code: CODE, name: NAME, regions: [REGION], sizes };
  }

  async function take(request: MachineRequest): Promise<RequestedMachine> {
    const machine = findByName(request.size);
    if (machine === undefined) throw new GiveUp("PROVIDER_OUT_OF_CAPACITY", because("own_machine_removed"));
    const taking = await takeMachine(machine.name, { ...buildLabels(request), address: machine.address });
    if (taking !== "taken") throw new GiveUp("PROVIDER_OUT_OF_CAPACITY", TAKING_ERRORS[taking]);
    await recordOffer(await catalog());
    return requested(machine);
  }

  return {
    code: CODE,
    name: NAME,
    settleSeconds: 0,
    catalog,
    findRequested: async (request) => {
      const machine = findByName(request.size);
      const takenMachine = await findTaken(request.size);
      return machine !== undefined && takenMachine?.server_id === request.server_id ? requested(machine) : undefined;
    },
    prepareOrder: (request) => Promise.resolve(() => take(request)),
    findMachine: async (name) => {
      const machine = findByName(name);
      return machine && { state: "running", ip_address: machine.address };
    },
    releaseMachine: async ({ server_id }) => {
      const serverMachines = (await takenMachines()).filter((each) => each.server_id === server_id);
      for (const { name } of serverMachines) await freeMachine(name, server_id);
      if (serverMachines.length > 0) await recordOffer(await catalog());
      return { isGone: true };
    },
    releaseOthers: async ({ server_id, machine_id }) => {
      const otherMachines = (await takenMachines()).filter((each) => each.server_id === server_id && each.name !== machine_id);
      for (const { name } of otherMachines) await freeMachine(name, server_id);
    },
    listMachines: async () => (await takenMachines()).map(({ name, ...labels }) => ({ machine_id: name, ...labels })),
  };
}

const TAKING_ERRORS: Readonly<Record<Exclude<Taking, "taken">, Reason>> = {
  "in use": because("own_machine_in_use"),
  "another account's before": because("own_machine_used_before"),
};

const buildLabels = ({ operation_id, server_id, account_id }: MachineRequest) => ({ operation_id, server_id, account_id });

const requested = ({ name, port, host_key }: OwnMachine): RequestedMachine => ({
  machine_id: name,
  ssh_port: port,
  host_keys: [host_key],
});
