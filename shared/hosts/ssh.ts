// Machines reached over SSH: one script runs their jobs, which continue without a connection and are polled.
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { log } from "../platform/log.ts";
import { GiveUp, TryAgain } from "../platform/task-errors.ts";
import { JOB_RESULTS, type JobResult, type Host, type HostedServer, type Job, type JobKind, type JobProgress } from "./host.ts";
import { forgetArchive, makeArchive } from "./ssh-archive.ts";
import { connected, sendsSshBanner } from "./ssh-connection.ts";
import { advance, type Advanced } from "./ssh-job.ts";
import { limitMinutes, parametersOf } from "./ssh-parameters.ts";
import { type Machine, machineOf } from "./ssh-script.ts";

export const ssh: Host = {
  run: <K extends JobKind>(server: HostedServer, job: Job<K>) =>
    understood(
      connected(server, async (shell): Promise<JobProgress<K>> => {
        const machine = machineOf(shell);
        for (const each of job.ends ?? []) await machine.end(each);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a job of any kind is a job, which TypeScript does not follow
        const progress = await progressOf(machine, server, job as unknown as Job);
        if (!progress.ready) return progress;
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema is the one that types this kind's result
        return { ready: true, result: JOB_RESULTS[job.kind].parse(progress.result) as JobResult<K> };
      }),
    ),

  probe: async (server) => {
    try {
      // This needs nothing of ours on the machine. One that sends something else is useless, and must not count as active:
      // of an active server's instances none can be deleted without its help.
      const asked = randomUUID();
      const { output } = await connected(server, (shell) => shell(`echo ${asked}`, "", PROBE), PROBE);
      return output.split("\n").includes(asked); // in addition to what a shell's start-up files may print
    } catch (error) {
      if (!(error instanceof TryAgain) || error.code !== "HOST_UNREACHABLE") throw error;
      log.info("could not probe a machine", { server: server.id, error });
      return false;
    }
  },

  greets: async ({ ip_address, ssh_port }) => ip_address !== null && sendsSshBanner(ip_address, ssh_port, PROBE),
};

/** A machine's output may be anything: the user of an ERP on it may have taken it over. */
async function understood<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (cause) {
    if (!(cause instanceof z.ZodError)) throw cause;
    throw new GiveUp("HOST_JOB_FAILED", "The machine sent a response that this service does not understand", { cause });
  }
}

/** All machines are probed within a minute, also if many of them are down. */
const PROBE = { seconds: 5 };

async function progressOf(machine: Machine, server: HostedServer, job: Job): Promise<Advanced> {
  switch (job.kind) {
    case "check_health":
      return checkHealth(machine, job);
    case "make_archive":
      return makeArchive(machine, job);
    case "forget_archive":
      return forgetArchive(machine, job);
    default:
      return advance(machine, {
        id: job.id,
        kind: job.kind,
        minutes: limitMinutes(job.kind),
        parameters: () => parametersOf(server, job),
        secrets: "admin_password" in job ? [job.admin_password ?? ""] : [],
      });
  }
}

/** Not a job: each look is a new one. */
async function checkHealth(machine: Machine, { instance_id }: Job<"check_health">): Promise<Advanced> {
  const { healthy, reason } = await machine.health(instance_id);
  if (!healthy) log.info("the ERP does not respond yet", { instance: instance_id, reason });
  return healthy ? { ready: true, result: null } : { ready: false };
}
