// A job on a machine, from request to result: started once, started again if it died, reported if it failed.
import { DEPLOY } from "../domain/limits.ts";
import { lastWholeLines, readable } from "../domain/log-lines.ts";
import { redactWork } from "../domain/redaction.ts";
import { log } from "../platform/log.ts";
import { GiveUp } from "../platform/task-errors.ts";
import { because, reasonIn } from "../domain/reasons.ts";
import type { NotReady } from "./host.ts";
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

export type Advanced = NotReady | { ready: true; result: unknown };

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

function failure({ code, message, log: sent }: Extract<JobStatus, { state: "failed" }>, secrets: readonly string[]): GiveUp {
  // Secrets are removed before the text is cut: what is left of a secret could not be found.
  const excerpt = readable(redactWork(withoutSecrets(wholeLines(sent).trimEnd(), secrets)));
  const lines = excerpt.split("\n");
  const end = lastWholeLines(lines.slice(-DEPLOY.logLines).join("\n"), DEPLOY.logBytes); // escapes take more than was sent
  const last = lines.slice(-LOG_LINES).join("\n").slice(-LOG_CHARACTERS).trim();
  const sentence = readable(withoutSecrets(message, secrets)).slice(0, MESSAGE_CHARACTERS);
  const mainReason = reasonIn(sentence) ?? because("machine_reports_other", { output: sentence });
  const reason = last === "" ? mainReason : because("machine_reports", { why: mainReason, log: last });
  return new GiveUp(code, reason, { log: end });
}

/** A machine sends so many bytes of a log's end, and the first line may be a part of one. */
function wholeLines(sent: string): string {
  if (Buffer.byteLength(sent) < DEPLOY.logBytes) return sent;
  const [, ...lines] = sent.split("\n");
  return lines.join("\n");
}

/** The script removes them already; here a machine that did not is made up for. Of two, one may be a part of the other. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  const longestFirst = secrets.filter((secret) => secret !== "").toSorted((a, b) => b.length - a.length);
  const withoutValues = longestFirst.reduce((rest, secret) => rest.replaceAll(secret, "…"), text);
  // Keeps the URL's path; the query is a signature, and the user info may be a password.
  return withoutValues.replaceAll(
    /(https?:\/\/)(?:[^\s/@]+@)?([^\s?"']+)(\?[^\s"']*)?/g,
    (_, scheme: string, address: string, query = "") => (query === "" ? `${scheme}${address}` : `${scheme}${address}?…`),
  );
}
