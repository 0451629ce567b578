// Machines reached over SSH: one script runs their jobs, which continue without a connection and are polled.
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { log } from "../platform/log.ts";
import { GiveUp, TryAgain } from "../platform/task-errors.ts";
import { because, reasonIn } from "../domain/reasons.ts";
import {
  JOB_RESULTS,
  type JobResult,
  type Host,
  type HostedServer,
  type Job,
  type JobKind,
  type JobProgress,
  type MachineSettings,
  type Probed,
} from "./host.ts";
import { forgetArchive, makeArchive } from "./ssh-archive.ts";
import { secretsOf } from "../records/code-secrets.ts";
import { connected, sendsSshBanner, type Shell } from "./ssh-connection.ts";
import { advance, type Advanced } from "./ssh-job.ts";
import { limitMinutes, buildParameters, registryParameters } from "./ssh-parameters.ts";
import { type Machine, createMachine } from "./ssh-script.ts";
import { fetchStatusLine, readStatusLine } from "./status-line.ts";

export const ssh: Host = {
  run: <K extends JobKind>(server: HostedServer, job: Job<K>) =>
    orNotUnderstood(
      connected(server, async (shell): Promise<JobProgress<K>> => {
        const machine = createMachine(shell);
        for (const each of job.ends ?? []) await machine.end(each);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a job of any kind is a job, which TypeScript does not follow
        const progress = await readProgress(machine, server, job as unknown as Job);
        if (!progress.ready) return progress;
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema is the one that types this kind's result
        return { ready: true, result: JOB_RESULTS[job.kind].parse(progress.result) as JobResult<K> };
      }),
    ),

  probe: async (server, settings, since = 0) => {
    const probed: Probed = { responded: false };
    try {
      await connected(
        server,
        async (shell) => {
          probed.responded = await runsCommands(shell);
          if (!probed.responded) return;
          if (settings !== undefined) probed.settingsTaken = await sendSettings(shell, server, settings);
          Object.assign(probed, await readReport(shell, server, since));
        },
        PROBE,
      );
    } catch (error) {
      if (!(error instanceof TryAgain) || error.code !== "HOST_UNREACHABLE") throw error;
      log.info("could not probe a machine", { server: server.id, error });
    }
    return probed;
  },

  statusLine: fetchStatusLine,

  readLog: (server, request) =>
    orNotUnderstood(
      connected(server, (shell) => createMachine((command, input) => shell(command, input, LOG)).readLog(request), LOG),
    ),

  readWorkLog: async (server, operationId) => {
    if (server.host_keys.length === 0) return { text: "", lines: 0 };
    return orNotUnderstood(
      connected(server, (shell) => createMachine((command, input) => shell(command, input, LOG)).readWorkLog(operationId), LOG),
    );
  },

  greets: async ({ ip_address, ssh_port }) => ip_address !== null && sendsSshBanner(ip_address, ssh_port, PROBE),
};

/** A machine's output may be anything: the user of an ERP on it may have taken it over. */
async function orNotUnderstood<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (cause) {
    if (!(cause instanceof z.ZodError)) throw cause;
    throw new GiveUp("HOST_JOB_FAILED", because("machine_not_understood"), { cause });
  }
}

/** All machines are probed within a minute, also if many of them are down. */
const PROBE = { seconds: 5 };

/** Somebody waits for it. */
const LOG = { seconds: 5 };

/**
 * This needs nothing of ours on the machine. One that sends something else is useless, and must not count as active: of an active
 * server's instances none can be deleted without its help.
 */
async function runsCommands(shell: Shell): Promise<boolean> {
  const nonce = randomUUID();
  const { output } = await shell(`echo ${nonce}`, "", PROBE);
  return output.split("\n").includes(nonce); // in addition to what a shell's start-up files may print
}

/**
 * The time limit for all of a report, with the upload of a new version of the script: some 2 s are needed on a busy machine with
 * 80 instances. The script's own limits add up to 8 s, so that the figures of a machine in trouble arrive without its
 * certificates.
 */
const REPORT_SECONDS = 10;

/** A machine that responds and reports nonsense, or nothing, is well all the same. */
async function readReport(
  shell: Shell,
  { id }: HostedServer,
  since: number,
): Promise<Pick<Probed, "report" | "samples" | "line">> {
  const end = performance.now() + REPORT_SECONDS * 1000;
  const machine = createMachine((command, input) => shell(command, input, { seconds: (end - performance.now()) / 1000 }));
  try {
    const { line, ...reported } = await machine.report(since);
    return { ...reported, line: line === undefined ? undefined : await readStatusLine(line, id) };
  } catch (error) {
    const reason = error instanceof z.ZodError ? "the response is nonsense" : String(error);
    log.info("a machine did not report about itself", { server: id, reason });
    return {};
  }
}

async function sendSettings(shell: Shell, { id }: HostedServer, settings: MachineSettings): Promise<boolean> {
  try {
    await createMachine((command, input) => shell(command, input, PROBE)).set(settings);
    return true;
  } catch (error) {
    log.info("a machine did not take its instances' disk quotas and redirects", { server: id, error });
    return false;
  }
}

async function readProgress(machine: Machine, server: HostedServer, job: Job): Promise<Advanced> {
  switch (job.kind) {
    case "check_health":
      return checkHealth(machine, job);
    case "make_archive":
      return makeArchive(machine, server, job);
    case "forget_archive":
      return forgetArchive(machine, job);
    default: {
      const registry = await registryParameters(job.kind);
      return advance(machine, {
        id: job.id,
        kind: job.kind,
        minutes: limitMinutes(job.kind),
        parameters: async () => ({ ...(await buildParameters(server, job)), ...registry }),
        secrets: [...secretsIn(job), registry["REGISTRY_PASSWORD"] ?? ""],
      });
    }
  }
}

function secretsIn(job: Job): string[] {
  const brought = job.kind === "bring_code" || job.kind === "drill_archive" ? job.code : undefined;
  const repositories = brought?.repositories ?? ("repositories" in job ? job.repositories : []);
  const environment = brought?.environment ?? ("environment" in job ? job.environment : []);
  const credentials = repositories.flatMap(({ credential }) => credential ?? []);
  return [
    ...("admin_password" in job ? [job.admin_password ?? ""] : []),
    ...("secrets" in job ? (job.secrets ?? []) : []),
    ...environment.flatMap(({ value, secret }) => (secret === true ? [value] : [])),
    ...credentials.flatMap(secretsOf),
  ];
}

/** Checks an ERP's health, without a job: each look is a new one. */
async function checkHealth(machine: Machine, { instance_id }: Job<"check_health">): Promise<Advanced> {
  const { healthy, reason, unfinished, modules } = await machine.health(instance_id);
  if (healthy) return { ready: true, result: { unfinished_modules: unfinished, modules } };
  log.info("the ERP does not respond yet", { instance: instance_id, reason });
  const knownReason = reasonIn(reason);
  // A sentence with values would be the machine's own text.
  return {
    ready: false,
    reason: knownReason !== null && Object.keys(knownReason.parameters).length === 0 ? knownReason : undefined,
  };
}
