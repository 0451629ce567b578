// A job on a machine, from request to result: started once, started again if it died, reported if it failed.
import { DEPLOY } from "../domain/limits.ts";
import { log } from "../platform/log.ts";
import { GiveUp } from "../platform/task-errors.ts";
import { because, reasonIn } from "../domain/reasons.ts";
import type { JobParameters, JobStatus, Machine } from "./ssh-script.ts";

interface MachineJob {
  id: string;
  kind: string;
  minutes: number;
  /** Computed only when the job starts: passwords and URLs need not travel again for each poll. */
  parameters: () => Promise<JobParameters>;
  /** Values that must not appear in the job's output. */
  secrets: readonly string[];
}

export type Advanced = { ready: false } | { ready: true; result: unknown };

export async function advance(machine: Machine, job: MachineJob): Promise<Advanced> {
  const status = await machine.status(job.id);
  switch (status.state) {
    case "unknown":
      return outcome(await machine.begin(job, await job.parameters()), job);
    case "lost":
      log.warn("a job died on its machine and is started again", { job: job.id });
      return outcome(await machine.begin(job, await job.parameters()), job);
    default:
      return outcome(status, job);
  }
}

function outcome(status: JobStatus, { id, secrets }: MachineJob): Advanced {
  switch (status.state) {
    case "done":
      return { ready: true, result: status.answer };
    case "failed":
      throw failure(status, secrets);
    case "running":
    case "lost": // between two polls; the next one starts it again
    case "unknown":
      return { ready: false };
    default:
      throw new Error(`The job ${id} is in an unknown state: ${JSON.stringify(status satisfies never)}`);
  }
}

/** People read an operation: enough to see what went wrong, and little enough to read. */
const LOG_LINES = 8;
const LOG_CHARACTERS = 800;
const MESSAGE_CHARACTERS = 400;

function failure({ code, message, log: lines }: Extract<JobStatus, { state: "failed" }>, secrets: readonly string[]): GiveUp {
  const end = withoutSecrets(lines.trimEnd(), secrets).split("\n").slice(-DEPLOY.logLines).join("\n").slice(-DEPLOY.logBytes);
  const last = lines.trimEnd().split("\n").slice(-LOG_LINES).join("\n").slice(-LOG_CHARACTERS).trim();
  const sentence = withoutSecrets(message, secrets).slice(0, MESSAGE_CHARACTERS);
  const why = reasonIn(sentence) ?? because("machine_reports_other", { output: sentence });
  const reason = last === "" ? why : because("machine_reports", { why, log: withoutSecrets(last, secrets) });
  return new GiveUp(code, reason, { log: end });
}

/** The script removes them already, but other programs write into the log, too. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  const named = secrets.filter((secret) => secret !== "").reduce((rest, secret) => rest.replaceAll(secret, "…"), text);
  // Keeps the URL's path; the query is a signature, and the user info may be a password.
  return named.replaceAll(
    /(https?:\/\/)(?:[^\s/@]+@)?([^\s?"']+)(\?[^\s"']*)?/g,
    (_, scheme: string, place: string, query = "") => (query === "" ? `${scheme}${place}` : `${scheme}${place}?…`),
  );
}
