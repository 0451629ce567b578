// A simulated provider whose machines are stored in the table: they take a moment to start, cost nothing, and fail if their name
// says so.
import { createHash } from "node:crypto";
import {
  addMachine,
  countRejection,
  findMachine,
  isReached,
  later,
  listMachines,
  removeMachine,
  type SandboxMachine,
} from "./machines.ts";
import { because } from "../../domain/reasons.ts";
import { GiveUp, TryAgain } from "../../platform/task-errors.ts";
import type { LabeledMachine, Machine, MachineRequest, Provider, RequestedMachine } from "../provider.ts";
import { SANDBOX_CATALOG } from "./catalog.ts";

const BOOT_SECONDS = 0.7;
/** How often creating a `flaky-` machine fails before it succeeds. */
const REJECTIONS = 2;

export const sandbox: Provider = {
  code: SANDBOX_CATALOG.code,
  name: SANDBOX_CATALOG.name,
  settleSeconds: 0,
  catalog: () => Promise.resolve(structuredClone(SANDBOX_CATALOG)),
  findRequested: async ({ operation_id }) => {
    const machine = await findMachine(toMachineId(operation_id));
    return machine && requested(machine.machine_id);
  },
  prepareOrder: (request) => Promise.resolve(() => createMachine(request)),
  findMachine: async (machineId) => {
    const machine = await findMachine(machineId);
    return machine && toMachine(machine);
  },
  releaseMachine: async ({ server_id, machine_id }) => {
    const machines = await listMachines();
    const ownMachines = machines.filter((machine) => machine.server_id === server_id || machine.machine_id === machine_id);
    for (const machine of ownMachines) await removeMachine(machine.machine_id);
    return { isGone: true };
  },
  releaseOthers: async ({ server_id, machine_id }) => {
    const others = (await listMachines()).filter((each) => each.server_id === server_id && each.machine_id !== machine_id);
    for (const other of others) await removeMachine(other.machine_id);
  },
  listMachines: async () => (await listMachines()).map(labels),
};

async function createMachine(request: MachineRequest): Promise<RequestedMachine> {
  const { operation_id, name } = request;
  const machine_id = toMachineId(operation_id);
  if (asks(name, "fail-quota")) throw new GiveUp("PROVIDER_QUOTA_EXCEEDED", because("sandbox_quota_used_up"));
  if (asks(name, "fail-capacity")) throw new GiveUp("PROVIDER_OUT_OF_CAPACITY", because("sandbox_out_of_capacity"));
  if (asks(name, "flaky") && (await countRejection(machine_id)) <= REJECTIONS)
    throw new TryAgain("PROVIDER_ERROR", because("sandbox_provider_error", { status: 500 }));
  await addMachine({
    ...request,
    machine_id,
    ip_address: deriveAddress(machine_id),
    running_at: later(BOOT_SECONDS),
    prepared: false,
    offline: false,
    created_at: later(0),
  });
  return requested(machine_id);
}

/** Nothing connects to it. */
const requested = (machine_id: string): RequestedMachine => ({ machine_id, ssh_port: null, host_keys: [] });

function toMachine(machine: SandboxMachine): Machine {
  if (!isReached(machine.running_at)) return { state: "starting", ip_address: null };
  if (asks(machine.name, "fail-timeout")) throw new GiveUp("TIMEOUT", because("provider_start_timed_out"));
  return { state: "running", ip_address: machine.ip_address };
}

function labels({ machine_id, operation_id, server_id, account_id, created_at }: SandboxMachine): LabeledMachine {
  return { machine_id, operation_id, server_id, account_id, created_at };
}

/** A name that requests a behavior: exactly, or with a suffix, because names are unique in an account. */
const asks = (name: string, behavior: string): boolean => name === behavior || name.startsWith(`${behavior}-`);

/** The operation's ID determines the machine's: a second request for the same one cannot create another. */
const toMachineId = (operationId: string): string => `sandbox-${operationId.replace(/^[a-z]+_/, "")}`;

/** One of the addresses that RFC 5737 keeps for documentation: it leads nowhere. */
function deriveAddress(machineId: string): string {
  const [last = 0] = createHash("sha256").update(machineId).digest();
  return `203.0.113.${1 + (last % 254)}`;
}
