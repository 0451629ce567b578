// How a deploy runs its jobs on the machine: what they are given, and what the deploy shows of one that fails.
import { secretsInLogs } from "../../../shared/operations/code/log-secrets.ts";
import { openSecrets } from "../../../shared/records/code-secrets.ts";
import { getDeploy, getPlan, updateDeploy } from "../../../shared/records/deploys.ts";
import type { OperationRecord } from "../../../shared/records/schemas/operation.ts";
import { endInJson } from "../../../shared/domain/json-bytes.ts";
import { DEPLOY } from "../../../shared/domain/limits.ts";
import { readable } from "../../../shared/domain/log-lines.ts";
import { nameWithSources } from "../../../shared/domain/module-plan.ts";
import { because, type Reason, reasonIn } from "../../../shared/domain/reasons.ts";
import { redact } from "../../../shared/domain/redaction.ts";
import type { Job, JobKind, JobProgress } from "../../../shared/hosts/host.ts";
import { readLog, run } from "../../../shared/hosts/index.ts";
import { log } from "../../../shared/platform/log.ts";
import { GiveUp } from "../../../shared/platform/task-errors.ts";
import type { Work } from "../../../shared/runtime/tasks.ts";
import type { InputOf } from "../../../shared/domain/workflow.ts";
import type workflow from "./workflow.ts";

export type Deploy = Work<InputOf<typeof workflow>>;

/** Keeps what the machine logged of a job that failed. */
export async function runWithLog<K extends JobKind>(work: Deploy, job: Job<K>): Promise<JobProgress<K>> {
  const { operation, server } = work;
  try {
    return await run(await server(), job);
  } catch (error) {
    if (!(error instanceof GiveUp)) throw error;
    if (error.log !== undefined) await noteLog(operation, error.log);
    throw await nameCulprit(work, error);
  }
}

/** The end of what the ERP wrote with the new code; the undo removes that with its container. */
export async function keepErpLog({ operation, input, server }: Deploy): Promise<void> {
  const { account_id, instance_id, deploy_id } = input;
  if ((await getDeploy(account_id, deploy_id)).log_excerpt !== null) return;
  try {
    const erpLog = await readLog(await server(), { instance_id, source: "erp" });
    if (erpLog === undefined) return;
    const secrets = await secretsInLogs({ account_id, operation_id: null, instance_id, deploy_id });
    const lines = readable(redact(erpLog, secrets)).trimEnd().split("\n").slice(-DEPLOY.logLines);
    await noteLog(operation, lines.join("\n"));
  } catch (error) {
    log.info("could not read the log of an ERP that does not respond", { instance: instance_id, error });
  }
}

const noteLog = (operation: OperationRecord, text: string): Promise<void> =>
  updateDeploy(operation, { log_excerpt: endInJson(text, DEPLOY.logBytes) });

/** What the ERP updates and installs. */
export async function readUpdate({ operation, input: { account_id, instance_id, deploy_id } }: Deploy) {
  const { code, update, install } = await getPlan(account_id, deploy_id);
  return { instance_id, code_id: operation.id, update, install, secrets: await openSecrets(code) };
}

/** What is updated and installed, with the repository of each. */
export async function nameModules({ input: { account_id, deploy_id } }: Deploy): Promise<string> {
  const { update, install, sources } = await getPlan(account_id, deploy_id);
  return nameWithSources([...update, ...install], sources);
}

/** Names what the machine does not: the repository of each module whose update failed, and the package that pip stopped at. */
async function nameCulprit(work: Deploy, error: GiveUp): Promise<GiveUp> {
  const [{ code: stated }, log] = splitReport(error.reason);
  const { one, several } = PIP_STOPPED.exec(error.log ?? "")?.groups ?? {};
  const pip = one ?? several;
  const insteadOf = (reason: Reason): GiveUp => new GiveUp(error.code, joinReport(reason, log), { cause: error });
  if (stated === "python_packages_not_installed" && pip !== undefined)
    return insteadOf(because("python_package_not_installed", { package: pip }));
  if (stated !== "rehearsal_failed" && stated !== "update_failed") return error;
  return insteadOf(because(stated, { modules: await nameModules(work) }));
}

/** What pip says of a package that it does not find, cannot build, or gets twice, and of packages that exclude each other. */
const PIP_STOPPED = new RegExp(
  "ERROR: (?:Could not find a version that satisfies the requirement|No matching distribution found for|" +
    "Failed building wheel for|Double requirement given:) (?<one>[A-Za-z0-9][A-Za-z0-9._-]{0,99})|" +
    "ERROR: Cannot install (?<several>[A-Za-z0-9][A-Za-z0-9 ,._<>=!~*[\\]-]{0,299}?) because these",
);

/** What a machine says of a job that failed, and the end of the job's log. */
export function splitReport(reason: Reason): [reason: Reason, log: string | undefined] {
  if (reason.code !== "machine_reports") return [reason, undefined];
  const machineSentence = String(reason.parameters["why"]);
  return [
    reasonIn(machineSentence) ?? because("machine_reports_other", { output: machineSentence }),
    String(reason.parameters["log"]),
  ];
}

export const joinReport = (reason: Reason, log: string | undefined): Reason =>
  log === undefined ? reason : because("machine_reports", { why: reason, log });
