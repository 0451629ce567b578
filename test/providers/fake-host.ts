// Replaces the connection to machines: every job is done at once. `unreachable` holds the machines that do not respond.
import { createHash } from "node:crypto";
import type { StatusLine } from "../../shared/operations/monitoring/health.ts";
import { because } from "../../shared/domain/reasons.ts";
import type { Host, HostedServer, Job, JobKind, JobProgress } from "../../shared/hosts/host.ts";
import { JOB_RESULTS } from "../../shared/hosts/host.ts";
import { TryAgain } from "../../shared/platform/task-errors.ts";

export const unreachable = new Set<string>();
/** What a machine does instead of a kind of job. */
export const misbehave = new Map<JobKind, () => { ready: false } | Promise<{ ready: false }>>();
/** What the machines' timers have written. */
export const lines = new Map<string, StatusLine>();
/** What of it a login brings. */
export const reported = new Map<string, StatusLine>();
/** How often each machine was logged in to. */
export const logins = new Map<string, number>();
/** Each job once, however often it was requested. */
export const jobs = new Map<string, { kind: JobKind; host_keys: string[]; ssh_port: number | null }>();

/** The public key that a machine generates for itself. */
export const keyMadeOn = (machineId: string): string =>
  `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${createHash("sha256").update(machineId).digest("base64").slice(0, 43)}`;

export const ssh: Host = {
  run: <K extends JobKind>(server: HostedServer, job: Job<K>): Promise<JobProgress<K>> => {
    const machineId = server.machine_id ?? "";
    const wrong = misbehave.get(job.kind);
    if (wrong !== undefined) return Promise.resolve().then(wrong);
    if (unreachable.has(machineId)) throw new TryAgain("HOST_UNREACHABLE", because("server_silent"));
    jobs.set(job.id, { kind: job.kind, host_keys: server.host_keys, ssh_port: server.ssh_port });
    const result = JOB_RESULTS[job.kind].parse(job.kind === "prepare_host" ? { host_key: keyMadeOn(machineId) } : null);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a job and its result belong together, which a lookup forgets
    return Promise.resolve({ ready: true, result } as JobProgress<K>);
  },
  probe: (server) => {
    const machineId = server.machine_id ?? "";
    logins.set(machineId, (logins.get(machineId) ?? 0) + 1);
    return Promise.resolve({ responded: !unreachable.has(machineId), line: reported.get(machineId) });
  },
  greets: (server) => Promise.resolve(!unreachable.has(server.machine_id ?? "")),
  statusLine: (server) => Promise.resolve(lines.get(server.machine_id ?? "")),
  readLog: () => Promise.resolve(undefined),
  readWorkLog: () => Promise.resolve({ text: "", lines: 0 }),
};
