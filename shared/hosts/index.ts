// Chooses how machines are reached in this environment, and handles undos on a machine that is down.
import { addResult, recordModules } from "../records/operations.ts";
import { previousDomains } from "../records/redirects.ts";
import type { StatusLine } from "../operations/monitoring/health.ts";
import type { InstanceRecord } from "../records/schemas/instance.ts";
import type { OperationRecord } from "../records/schemas/operation.ts";
import type { ServerRecord } from "../records/schemas/server.ts";
import { isFailure, USABLE } from "../domain/lifecycle.ts";
import type { WorkLog } from "../domain/log-lines.ts";
import { type DifferingModule, missingModules } from "../domain/missing-modules.ts";
import type { Reason } from "../domain/reasons.ts";
import { chooseByEnvironment } from "../platform/env.ts";
import { log } from "../platform/log.ts";
import { GiveUp, TryAgain } from "../platform/task-errors.ts";
import type { Host, HostedServer, Job, JobKind, JobProgress, LogRequest, MachineSettings, Probed } from "./host.ts";

/** Loaded on demand, because most tasks reach no machine, and the other environment's never do. */
const host = (): Promise<Host> =>
  chooseByEnvironment({
    test: async () => (await import("./sandbox/host.ts")).sandbox,
    live: async () => (await import("./ssh.ts")).ssh,
  });

export const run = async <K extends JobKind>(server: HostedServer, job: Job<K>): Promise<JobProgress<K>> =>
  (await host()).run(server, job);

export const probe = async (server: HostedServer, settings?: MachineSettings, since?: number): Promise<Probed> =>
  (await host()).probe(server, settings, since);

export const greets = async (server: HostedServer): Promise<boolean> => (await host()).greets(server);

export const statusLine = async (server: HostedServer): Promise<StatusLine | undefined> => (await host()).statusLine(server);

export const readLog = async (server: HostedServer, request: LogRequest): Promise<string | undefined> =>
  (await host()).readLog(server, request);

export const readWorkLog = async (server: HostedServer, operationId: string): Promise<WorkLog> =>
  (await host()).readWorkLog(server, operationId);

/**
 * Runs a job that takes something back. A machine that the health check has missed, too, is down: waiting for it would hold the
 * resource to no use, so the undo ends, and `down` says that what was on the machine may still be there.
 */
export async function runUndo<K extends JobKind>(server: ServerRecord, job: Job<K>): Promise<JobProgress<K> | "down"> {
  try {
    return await run(server, job);
  } catch (error) {
    const down = !USABLE.includes(server.state) || server.failed_probes > 0;
    if (!(error instanceof TryAgain) || error.code !== "HOST_UNREACHABLE" || !down) throw error;
    log.warn("skipped what was to be taken back on a machine that is down", { server: server.id, job: job.kind });
    return "down";
  }
}

interface Started {
  operation: OperationRecord;
  instance: Pick<InstanceRecord, "id">;
  jobId: string;
}

/**
 * Whether an ERP that was started responds, or why it does not, if that is known. The operation's result names the modules that
 * it found half installed, and those that the image lacks.
 */
export async function isHealthy(server: ServerRecord, { operation, instance, jobId }: Started): Promise<boolean | Reason> {
  const progress = await run(server, { id: jobId, kind: "check_health", instance_id: instance.id });
  if (!progress.ready) return progress.reason ?? false;
  const { unfinished_modules, modules } = progress.result;
  if (unfinished_modules.length > 0) {
    log.warn("an ERP has half-installed modules", { instance: instance.id, unfinished_modules });
    await addResult(operation, { unfinished_modules });
  }
  await addMissingModules(operation, modules);
  await recordModules(operation, instance.id, {
    unfinished_modules,
    ...(modules !== null && { missing_modules: missingModules(modules) }),
  });
  return true;
}

/** Has the operation's result name the modules that the image lacks, as far as that was found out. */
export async function addMissingModules(operation: OperationRecord, modules: readonly DifferingModule[] | null): Promise<void> {
  const missing_modules = missingModules(modules ?? []);
  if (missing_modules.length > 0) await addResult(operation, { missing_modules });
}

/**
 * Whether an ERP that was started responds, at the domain of its record. What had failed may serve another one: that of a move
 * which its machine completed after nobody could take it back.
 */
export async function isServing(
  server: ServerRecord,
  started: Started & { instance: InstanceRecord },
): Promise<boolean | Reason> {
  const healthy = await isHealthy(server, started);
  if (healthy !== true) return healthy;
  const { operation, instance, jobId } = started;
  const { id: instance_id, domain } = instance;
  const redirects = previousDomains(instance, domain);
  if (!isFailure(operation.before ?? "")) return true;
  return (await run(server, { id: `${jobId}-domain`, kind: "move_domain", instance_id, domain, redirects })).ready;
}

/**
 * Removes from the machine the archive that a job made and sent. Nothing depends on that copy any more: a machine that is down,
 * or cannot do it, removes the job's folder after two days.
 */
export async function removeSentArchive(server: ServerRecord, made_by: string): Promise<boolean> {
  try {
    return await undoUnlessDown(server, { id: `${made_by}-forget`, kind: "forget_archive", made_by });
  } catch (error) {
    if (!(error instanceof GiveUp)) throw error;
    log.warn("an archive that is stored is still on the machine", { server: server.id, error });
    return true;
  }
}

/** Runs an undo or cleanup that leaves to a later deletion what a machine that is down may still have. */
export async function undoUnlessDown<K extends JobKind>(server: ServerRecord, job: Job<K>): Promise<boolean> {
  const progress = await runUndo(server, job);
  return progress === "down" || progress.ready;
}
