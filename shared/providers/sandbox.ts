// A provider whose machines are rows of the table: they take a moment to start, cost nothing, and fail when their name asks for it.
import { createHash } from "node:crypto";
import type { CatalogProvider } from "../api/catalog.ts";
import {
  addMachine,
  countRefusal,
  findMachine,
  isReached,
  later,
  listMachines,
  removeMachine,
  type SandboxMachine,
} from "../data/sandbox.ts";
import { GiveUp, TryAgain } from "../runtime/task-errors.ts";
import type { LabelledMachine, Machine, MachineRequest, Provider } from "./provider.ts";

const BOOT_SECONDS = 0.7;
/** How often a `flaky-` machine is refused before it is made. */
const REFUSALS = 2;

const CATALOG: CatalogProvider = {
  code: "sandbox",
  name: "Sandbox",
  regions: [
    { code: "eu-central", name: "Europe (central)" },
    { code: "eu-west", name: "Europe (west)" },
    { code: "us-east", name: "United States (east)" },
  ],
  sizes: [
    { code: "small", cpu: 2, memory_gb: 4, disk_gb: 40, regions: ["eu-central", "eu-west", "us-east"] },
    { code: "medium", cpu: 4, memory_gb: 8, disk_gb: 80, regions: ["eu-central", "eu-west", "us-east"] },
    { code: "large", cpu: 8, memory_gb: 16, disk_gb: 160, regions: ["eu-central", "eu-west", "us-east"] },
    // Not everywhere, so that this can be met here too.
    { code: "xlarge", cpu: 16, memory_gb: 32, disk_gb: 320, regions: ["eu-central", "us-east"] },
  ],
};

export const sandbox: Provider = {
  code: CATALOG.code,
  name: CATALOG.name,
  catalog: () => Promise.resolve(structuredClone(CATALOG)),
  requestMachine,
  findMachine: async (machineId) => {
    const machine = await findMachine(machineId);
    return machine && stateOf(machine);
  },
  releaseMachine: async ({ server_id, machine_id }) => {
    const machines = await listMachines();
    const mine = machines.filter((machine) => machine.server_id === server_id || machine.machine_id === machine_id);
    for (const machine of mine) await removeMachine(machine.machine_id);
    return { gone: true };
  },
  listMachines: async () => (await listMachines()).map(labels),
};

async function requestMachine(request: MachineRequest): Promise<{ machine_id: string }> {
  const { operation_id, name } = request;
  const machine_id = machineIdOf(operation_id);
  if (asks(name, "fail-quota"))
    throw new GiveUp("PROVIDER_QUOTA_EXCEEDED", "The provider allows no more machines: its quota is used up");
  if (asks(name, "fail-capacity"))
    throw new GiveUp("PROVIDER_OUT_OF_CAPACITY", "The provider has no machine of this size in this region now");
  if (asks(name, "flaky") && (await countRefusal(machine_id)) <= REFUSALS)
    throw new TryAgain("PROVIDER_ERROR", "The provider answered with an error of its own (500)");
  await addMachine({
    ...request,
    machine_id,
    ssh_keys: [...request.ssh_keys],
    ip_address: addressOf(machine_id),
    running_at: later(BOOT_SECONDS),
    prepared: false,
    offline: false,
    created_at: later(0),
  });
  return { machine_id };
}

function stateOf(machine: SandboxMachine): Machine {
  if (!isReached(machine.running_at)) return { state: "starting", ip_address: null };
  if (asks(machine.name, "fail-timeout")) throw new GiveUp("TIMEOUT", "The provider did not get the machine started in time");
  return { state: "running", ip_address: machine.ip_address };
}

function labels({ machine_id, operation_id, server_id, account_id, created_at }: SandboxMachine): LabelledMachine {
  return { machine_id, operation_id, server_id, account_id, created_at };
}

/** A name that asks for a behaviour: it alone, or with something after it, because names are unique in an account. */
const asks = (name: string, behaviour: string): boolean => name === behaviour || name.startsWith(`${behaviour}-`);

/** The operation's id makes the machine's: a second request for the same one cannot make another. */
const machineIdOf = (operationId: string): string => `sandbox-${operationId.replace(/^[a-z]+_/, "")}`;

/** One of the addresses that RFC 5737 keeps for documentation: it leads nowhere. */
function addressOf(machineId: string): string {
  const [last = 0] = createHash("sha256").update(machineId).digest();
  return `203.0.113.${1 + (last % 254)}`;
}
