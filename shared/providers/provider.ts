// The interface to a provider of machines. Implementations throw TryAgain and GiveUp with the PROVIDER_ codes.
import type { CatalogProvider } from "../api/catalog.ts";
import type { ServerRecord } from "../records/schemas/server.ts";

export interface MachineRequest {
  /** Makes the request idempotent, and labels the machine. */
  operation_id: string;
  server_id: string;
  account_id: string;
  /** The machine's host name. */
  name: string;
  region: string;
  size: string;
}

/** A created machine, and how to trust the first connection to it. */
export type RequestedMachine = { machine_id: string } & Pick<ServerRecord, "ssh_port" | "host_keys">;

/**
 * Asks for the machine: one request, sent once, which times out after `RESPONSE_SECONDS`. Throws GiveUp or RetryLater only if
 * surely none was made; after any other error there may be one.
 */
export type Order = () => Promise<RequestedMachine>;

export interface Machine {
  /** `off`: it exists, but was turned off at the provider. */
  state: "starting" | "running" | "off";
  /** Null until the provider has given it one. */
  ip_address: string | null;
}

export const isRunning = ({ state }: Machine): boolean => state === "running";

/** A machine with the labels that it was requested with. */
export interface LabeledMachine {
  machine_id: string;
  operation_id: string;
  server_id: string;
  account_id: string;
  created_at: string;
}

/** The server whose machines are meant. */
export interface MachineOwner {
  server_id: string;
  account_id: string;
  /** The machine's ID as recorded; its label finds it, too, unless the provider is late in showing it. */
  machine_id: string | null;
}

export interface Provider {
  code: string;
  name: string;
  /** How long after an order was sent its machine may still be missing from what the provider shows. */
  settleSeconds: number;
  /** The provider's current regions and sizes, and which size is available where. */
  catalog: () => Promise<CatalogProvider>;
  /** The machine that an earlier try of the same operation created, if the provider lists one. */
  findRequested: (request: MachineRequest) => Promise<RequestedMachine | undefined>;
  /** Finds out all that the order needs, and orders nothing. */
  prepareOrder: (request: MachineRequest) => Promise<Order>;
  /**
   * Undefined if the machine does not exist at the provider, or no longer. Throws if the provider says that it will never run.
   */
  findMachine: (machineId: string) => Promise<Machine | undefined>;
  /**
   * Gives every machine of a server back, found by its label, because a request may have been cut off before the id was
   * recorded. `isGone` once the provider has none of them any more; until then, it is called again.
   */
  releaseMachine: (owner: MachineOwner) => Promise<{ isGone: boolean }>;
  /** Deletes machines that were created in addition to the server's own. */
  releaseOthers: (owner: MachineOwner & { machine_id: string }) => Promise<void>;
  /** All machines of this deployment, of every account. Their label names it: two deployments may share a provider's project. */
  listMachines: () => Promise<LabeledMachine[]>;
}
