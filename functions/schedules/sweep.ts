// Every five minutes: starts operations whose start was lost, and compares what the providers have with what the table says.
import { findOperation, forgetOpen, isOpen, openOperations } from "../../shared/data/operations.ts";
import { findServer } from "../../shared/data/servers.ts";
import { providers } from "../../shared/providers/index.ts";
import type { LabelledMachine, Provider } from "../../shared/providers/provider.ts";
import { log } from "../../shared/runtime/log.ts";
import { count } from "../../shared/runtime/metrics.ts";
import { startExecution } from "../../shared/runtime/start.ts";

/** A handler starts what it has written within seconds. */
const START_LOST_MS = 60_000;
/** A machine may be known to the provider before it is to the table; longer than any creation takes. */
const ORPHAN_MS = 30 * 60_000;

export async function handler(): Promise<void> {
  log.resetKeys();
  await startLost();
  const orphans = (await Promise.all(providers().map(releaseOrphans))).flat();
  count("OrphanMachines", orphans.length);
}

async function startLost(): Promise<void> {
  const lateAt = new Date(Date.now() - START_LOST_MS).toISOString();
  for (const { accountId, id } of (await openOperations()).filter(({ createdAt }) => createdAt < lateAt)) {
    const operation = await findOperation(accountId, id);
    if (operation === undefined || !isOpen(operation)) {
      await forgetOpen(id);
    } else if (operation.state === "pending") {
      log.warn("starting an operation whose start was lost", { operation: id });
      await startExecution(operation.workflow, id, operation.input);
    }
  }
}

/** Machines under our labels that no server's record names. If the record is gone, so is whoever would pay: they are given back. */
async function releaseOrphans(provider: Provider): Promise<LabelledMachine[]> {
  const oldAt = new Date(Date.now() - ORPHAN_MS).toISOString();
  const orphans: LabelledMachine[] = [];
  for (const machine of (await provider.listMachines()).filter(({ created_at }) => created_at < oldAt)) {
    const server = await findServer(machine.account_id, machine.server_id);
    if (server !== undefined && (server.machine_id === machine.machine_id || server.operation_id !== null)) continue;
    log.error("the provider has a machine that no server names", { provider: provider.code, ...machine });
    orphans.push(machine);
    if (server === undefined) await provider.releaseMachine(machine);
  }
  return orphans;
}
