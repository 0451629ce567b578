// The interface to whoever rents machines out. Implementations throw TryAgain and GiveUp with the PROVIDER_ codes.
import type { CatalogProvider } from "../api/catalog.ts";

export interface MachineRequest {
  /** Makes the request idempotent, and labels the machine. */
  operation_id: string;
  server_id: string;
  account_id: string;
  /** The machine's host name. */
  name: string;
  region: string;
  size: string;
  /** Public keys, one line each. */
  ssh_keys: readonly string[];
}

export interface Machine {
  /** `off`: it is there, but was switched off at the provider. */
  state: "starting" | "running" | "off";
  /** Null until the provider has given it one. */
  ip_address: string | null;
}

/** A machine with the labels that it was requested with. */
export interface LabelledMachine {
  machine_id: string;
  operation_id: string;
  server_id: string;
  account_id: string;
  created_at: string;
}

export interface Provider {
  code: string;
  name: string;
  /** Regions, sizes and what is offered where, as the provider has it now. */
  catalog: () => Promise<CatalogProvider>;
  /** Asked for again with the same operation it finds the machine that an earlier try made, and never makes a second. */
  requestMachine: (request: MachineRequest) => Promise<{ machine_id: string }>;
  /** Undefined if the provider has no such machine, or has it no more. Throws if it says that the machine will never run. */
  findMachine: (machineId: string) => Promise<Machine | undefined>;
  /**
   * Gives every machine of a server back, found by its label, because a request may have been cut off before the id was
   * recorded. `gone` once the provider has none of them any more; before, it is asked again.
   */
  releaseMachine: (server: { server_id: string; machine_id: string | null }) => Promise<{ gone: boolean }>;
  /** All machines of this deployment, of every account. Their label names it: two deployments may share a provider's project. */
  listMachines: () => Promise<LabelledMachine[]>;
}
