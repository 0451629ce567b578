// What the steps of deploying an instance's code do.
import { toCommits, findProblems, requireNoProblem } from "../../../shared/operations/code/code-checks.ts";
import { isOutdated, recordImage } from "../../../shared/operations/monitoring/images.ts";
import { secretsInLogs } from "../../../shared/operations/code/log-secrets.ts";
import {
  holdsDrillSlot,
  releaseDrillSlot,
  tryReacquireDrillSlot,
  tryAcquireDrillSlot,
} from "../../../shared/operations/backups/drills.ts";
import { getBackup } from "../../../shared/records/backups.ts";
import { findCode, recordChecked, recordDeployed, recordRestored } from "../../../shared/records/code.ts";
import { openEnvironment, openRepositories, openSecrets } from "../../../shared/records/code-secrets.ts";
import {
  getDeploy,
  getPlan,
  recordStartedImage,
  recordPackages,
  updateDeploy,
  setModules,
  planFullUpdate,
} from "../../../shared/records/deploys.ts";
import { recordNeutralized, showTransientState } from "../../../shared/records/instances.ts";
import { addResult, setFailedState, recordModulesBefore, recordModules } from "../../../shared/records/operations.ts";
import type { OperationRecord } from "../../../shared/records/schemas/operation.ts";
import { JOB_MINUTES } from "../../../shared/domain/job-minutes.ts";
import { endInJson, startInJson } from "../../../shared/domain/json-bytes.ts";
import { abandonedState, DEPLOY_STATUS, LIFECYCLE, REHEARSAL } from "../../../shared/domain/lifecycle.ts";
import { DEPLOY } from "../../../shared/domain/limits.ts";
import { readable } from "../../../shared/domain/log-lines.ts";
import { isNewer } from "../../../shared/domain/missing-modules.ts";
import { firstNamed, nameWithSources, planModules } from "../../../shared/domain/module-plan.ts";
import { because, inEnglish, type Reason, type ReasonCode, reasonIn } from "../../../shared/domain/reasons.ts";
import { redact } from "../../../shared/domain/redaction.ts";
import type { Job, JobKind, JobProgress, JobResult } from "../../../shared/hosts/host.ts";
import { removeSentArchive, readLog, isServing, run, runUndo, undoUnlessDown } from "../../../shared/hosts/index.ts";
import { log } from "../../../shared/platform/log.ts";
import { newestImages } from "../../../shared/providers/images.ts";
import { GiveUp, NotYet } from "../../../shared/platform/task-errors.ts";
import { closeSafetyBackup, makeSafetyBackup } from "../../../shared/runtime/safety-backup.ts";
import { tasks, type Work } from "../../../shared/runtime/tasks.ts";
import { requireStoredArchive } from "../../../shared/storage/stored-archive.ts";
import type { InputOf } from "../../../shared/domain/workflow.ts";
import workflow from "./workflow.ts";

type Deploy = Work<InputOf<typeof workflow>>;

/**
 * What a deploy shows of the names of its modules, of each kind, of its packages, and of the error of its rehearsal, so that its
 * record stays below 64 KB with the largest commits (30 KB), choices (7 KB) and log.
 */
const NAMES_BYTES_MAX = 3 * 1024;
const PACKAGES_BYTES_MAX = 4 * 1024;
const ERROR_BYTES_MAX = 4 * 1024;

export const handler = tasks(workflow, {
  resolveCode: async (work) => {
    const { operation, input, instance, jobId } = work;
    await updateDeploy(operation, { status: DEPLOY_STATUS.running });
    const { code, commits: fixed } = await getPlan(input.account_id, input.deploy_id);
    const resolved =
      fixed === undefined
        ? await runWithLog(work, {
            id: jobId,
            kind: "resolve_code",
            instance_id: input.instance_id,
            repositories: await openRepositories(code),
            hold: true,
          })
        : ({ ready: true, result: { commits: fixed.map((commit) => ({ commit, problem: null, host_key: null })) } } as const);
    if (!resolved.ready) return false;
    requireNoProblem(findProblems(code.repositories, resolved.result.commits));
    const commits = toCommits(code.repositories, resolved.result.commits);
    if (commits.length < code.repositories.length) throw new GiveUp("HOST_JOB_FAILED", because("machine_not_understood"));
    const record = await instance();
    if (fixed === undefined) await recordChecked(record, commits);
    const { deployed } = await findCode(record);
    await updateDeploy(operation, {
      commits: commits.map(({ url, ref, path, commit }) => ({
        url,
        ref,
        commit,
        previous_commit: deployed?.commits.find((each) => each.url === url && each.path === path)?.commit ?? null,
        subject: null,
      })),
    });
    return true;
  },

  fetchCode: async (work) => {
    const { operation, input, jobId } = work;
    const { account_id, instance_id, deploy_id } = input;
    const [planned, { commits }] = await Promise.all([getPlan(account_id, deploy_id), getDeploy(account_id, deploy_id)]);
    const { code, select, code_id, subjects: recorded = [] } = planned;
    const repositories = await openRepositories(code);
    const fetched = await runWithLog(work, {
      id: jobId,
      kind: "fetch_code",
      instance_id,
      code_id: operation.id,
      repositories: repositories.map((repository, index) => ({ ...repository, commit: commits[index]?.commit ?? "" })),
      environment: await openEnvironment(code),
      named_modules: [...code.install_modules, ...(typeof select === "string" ? [] : select)],
      keep: true,
      from: code_id === undefined ? undefined : { instance_id, code_id },
    });
    if (!fetched.ready) return false;
    const { problems, subjects, modules, missing } = fetched.result;
    requireNoProblem(findProblems(code.repositories, problems));
    const sources = Object.fromEntries(
      modules.flatMap(({ name, repository }) => {
        const { url } = code.repositories[repository ?? -1] ?? {};
        return url === undefined ? [] : [[name, url] as const];
      }),
    );
    if (!input.restore_database) requireNoMissing(missing);
    if (planned.commits !== undefined && !input.restore_database)
      requireNoNewer(
        modules.map(({ name, version, database_version }) => ({ name, has: database_version, brings: version })),
        sources,
      );
    const { updated, installed, changed_but_not_installed } = planModules(fetched.result, {
      select,
      install: code.install_modules,
    });
    const installedNames = new Set([...fetched.result.installed, ...installed]);
    if (typeof select !== "string" && !input.restore_database)
      requireInstalled(select.filter((name) => !installedNames.has(name)));
    const versions = modules.filter(({ name }) => installedNames.has(name)).map(({ name, version }) => [name, version]);
    // Data that comes back was last updated with this code.
    const plan = input.restore_database ? { updated: [], installed: [] } : { updated, installed };
    const reportedNames = firstNamed(plan.updated, plan.installed);
    await setModules(operation, plan, {
      versions: Object.fromEntries(versions),
      unchanged_versions:
        typeof select === "string" || input.restore_database ? {} : findUnchanged(modules, [...updated, ...installed]),
      sources: Object.fromEntries(Object.entries(sources).filter(([name]) => reportedNames.includes(name))),
    });
    await updateDeploy(operation, {
      commits: commits.map((commit, index) => ({ ...commit, subject: subjects[index] ?? recorded[index] ?? null })),
      modules: {
        updated: fitNames(plan.updated, NAMES_BYTES_MAX),
        installed: fitNames(plan.installed, NAMES_BYTES_MAX),
        changed_but_not_installed: fitNames(changed_but_not_installed, NAMES_BYTES_MAX),
      },
    });
    return true;
  },

  pullImages: async (work) => {
    const { operation, input, instance, jobId } = work;
    const { account_id, instance_id, deploy_id, restore_database } = input;
    const { image: earlier } = await getPlan(account_id, deploy_id);
    const job = { id: jobId, kind: "pull_images", instance_id, code_id: operation.id, image: earlier } as const;
    const pulled = await runWithLog(work, job);
    if (!pulled.ready) return false;
    const { changed, modules, ...image } = pulled.result;
    if (!restore_database)
      requireNoNewer((modules ?? []).map(({ name, version, image_version }) => ({ name, has: version, brings: image_version })));
    const { erp_version } = await instance();
    // A machine to which the registry does not respond goes on with what it has.
    if (earlier === undefined && isOutdated(image, (await newestImages()).get(erp_version)))
      throw new GiveUp("HOST_JOB_FAILED", because("image_not_pulled", { image: `odoo:${erp_version}` }));
    // Data that comes back was last updated with the image that comes back.
    if (changed && (earlier === undefined || !restore_database)) await planFullUpdate(operation);
    await updateDeploy(operation, { image });
    return true;
  },

  installPackages: async (work) => {
    const { operation, input, jobId } = work;
    const { code, packages: resolved } = await getPlan(input.account_id, input.deploy_id);
    const { instance_id } = input;
    const { python_packages, allow_source_builds } = code;
    const packages = resolved ?? python_packages;
    const job = {
      id: jobId,
      kind: "install_packages",
      instance_id,
      code_id: operation.id,
      packages,
      allow_source_builds,
    } as const;
    const installed = await runWithLog(work, job);
    if (!installed.ready) return false;
    await recordPackages(operation, installed.result.packages);
    await updateDeploy(operation, { python_packages: fitNames(installed.result.packages, PACKAGES_BYTES_MAX) });
    return true;
  },

  awaitPlace: async (work) => {
    const { operation, input, server } = work;
    if (!isRehearsed(input)) return true;
    return (await tryAcquireDrillSlot(operation, (await server()).id)) || !(await updatesSome(work));
  },

  rehearse: async (work) => {
    const { operation, input, server, jobId } = work;
    if (!isRehearsed(input)) return true;
    const { id: serverId } = await server();
    if (!(await holdsDrillSlot(operation, serverId))) {
      const { rehearsal } = await getDeploy(input.account_id, input.deploy_id);
      if (rehearsal !== null) return true; // this task, which may run twice, has released the slot
      if (await updatesSome(work)) {
        // A rehearsal that lost the slot goes on once it is taken again: no update goes unrehearsed.
        await tryAcquireDrillSlot(operation, serverId);
        return false;
      }
      await skipRehearsal(operation, because("rehearsal_place_taken"));
      return true;
    }
    const job = { id: jobId, kind: "rehearse_code", ...(await readUpdate(work)) } as const;
    try {
      const progress = await runWithLog(work, job);
      if (!progress.ready) return false;
      const { duration_seconds } = progress.result;
      await updateDeploy(operation, { rehearsal: { status: REHEARSAL.passed, duration_seconds, error: null } });
    } catch (error) {
      await failRehearsal(work, error);
    }
    await releaseDrillSlot(operation, serverId);
    return true;
  },

  makeSafetyBackup: async (work) => {
    const { operation, input, server, jobId } = work;
    if (!(await makeSafetyBackup(work))) return false;
    await updateDeploy(operation, { backup_id: input.safety_backup_id });
    return removeSentArchive(await server(), jobId);
  },

  keepData: async ({ operation, input, instance, server, jobId }) => {
    await showTransientState(operation, await instance());
    const { instance_id } = input;
    return (await run(await server(), { id: jobId, kind: "keep_data", instance_id, code_id: operation.id })).ready;
  },

  restoreData: async ({ operation, input, server, jobId }) => {
    if (input.data_backup_id === undefined) throw new GiveUp("INTERNAL_ERROR", because("internal_error"));
    const restored = await run(await server(), {
      id: jobId,
      kind: "restore_archive",
      instance_id: input.instance_id,
      restore_id: `${operation.id}_data`,
      archive: requireStoredArchive(await getBackup(input.account_id, input.data_backup_id)),
      restore_database: true,
      restore_filestore: true,
      neutralize: false,
    });
    return restored.ready;
  },

  /** The ERP starts also if it was stopped: only its response shows that it runs with the new code. */
  updateModules: async (work) => {
    const { operation, instance, jobId } = work;
    await showTransientState(operation, await instance());
    const updated = await runWithLog(work, { id: jobId, kind: "update_modules", ...(await readUpdate(work)) });
    if (!updated.ready) return false;
    const { downtime_seconds, image } = updated.result;
    if (image !== null) await recordStartedImage(operation, image);
    await updateDeploy(operation, { downtime_seconds });
    if (downtime_seconds !== null) await addResult(operation, { downtime_seconds });
    return true;
  },

  awaitHealthy: async (work) => {
    const { operation, instance, server, jobId } = work;
    const record = await instance();
    await recordModulesBefore(operation, record);
    if ((await isServing(await server(), { operation, instance: record, jobId })) === true) return true;
    const modules = await nameModules(work);
    throw new NotYet(
      "HEALTH_CHECK_FAILED",
      modules === "" ? because("deploy_not_healthy") : because("deploy_modules_not_healthy", { modules }),
    );
  },

  stopAgain: async ({ operation, input, server, jobId }) => {
    if (operation.before !== LIFECYCLE["instance.stop"].to) return true;
    return (await run(await server(), { id: jobId, kind: "stop_erp", instance_id: input.instance_id })).ready;
  },

  settleCode: async (work) => runSettleJob(work),

  putBack: async (work) => {
    const { operation, input, server, jobId, stepJobs, failure } = work;
    if (operation.committed) return retrySettleCode(work);
    if (failure === "HEALTH_CHECK_FAILED") await keepErpLog(work);
    const { instance_id } = input;
    const start = operation.before === LIFECYCLE["instance.start"].to;
    const job = { id: jobId, kind: "undo_code", instance_id, code_id: operation.id, start, ends: stepJobs } as const;
    const progress = await runUndo(await server(), job);
    if (progress !== "down") {
      if (progress.ready && progress.result !== null) await updateDeploy(operation, progress.result);
      if (progress.ready && operation.modules_before) await recordModules(operation, instance_id, operation.modules_before);
      return progress.ready;
    }
    // What was there before is kept, but nobody knows now with which code and data the ERP runs.
    await setFailedState(operation, abandonedState(operation.type));
    return true;
  },

  leavePlace: async ({ operation, server, jobId, stepJobs }) => {
    const record = await server();
    // Only whoever has the slot may remove what is there.
    if (!(await tryReacquireDrillSlot(operation, record.id))) return true;
    if (!(await undoUnlessDown(record, { id: jobId, kind: "remove_drill", ends: stepJobs }))) return false;
    await releaseDrillSlot(operation, record.id);
    return true;
  },

  closeSafetyBackup,
});

/** The versions in the database of the modules that a deploy of named ones leaves as they are, where the code has others. */
function findUnchanged(modules: JobResult<"fetch_code">["modules"], updated: readonly string[]): Record<string, string> {
  const unchangedModules = modules.filter(
    ({ name, version, database_version: has }) => has !== version && !updated.includes(name),
  );
  return Object.fromEntries(unchangedModules.flatMap(({ name, database_version: has }) => (has === null ? [] : [[name, has]])));
}

/** The ERP takes no module back to an older version without its data. The request knew only what the last deploy brought. */
function requireNoNewer(
  modules: readonly { name: string; has: string | null; brings: string | null }[],
  sources: Readonly<Record<string, string>> = {},
): void {
  const newer = modules.filter(({ has, brings }) => has !== null && brings !== null && isNewer(has, brings));
  if (newer.length === 0) return;
  const names = newer.map(({ name }) => name).toSorted();
  throw new GiveUp("CODE_INVALID", because("rollback_modules_newer", { modules: nameWithSources(names, sources) }));
}

/** The ERP skips modules that it does not find, and responds, but what they had in its data is broken. */
function requireNoMissing(missing: readonly string[] | null): void {
  if (missing === null) throw new GiveUp("HOST_JOB_FAILED", because("image_modules_not_listed"));
  if (missing.length > 0)
    throw new GiveUp("CODE_INVALID", because("deploy_modules_missing", { modules: nameWithSources(missing, {}) }));
}

/** Modules that were named for the update, and are neither in the database nor about to be. */
function requireInstalled(missing: readonly string[]): void {
  if (missing.length > 0)
    throw new GiveUp("CODE_INVALID", because("deploy_modules_not_installed", { modules: nameWithSources(missing, {}) }));
}

/** Returns as many names as fit; they are ASCII, and each is stored with some three bytes more. */
function fitNames(names: readonly string[], bytes: number): string[] {
  let room = bytes;
  return names.filter((name) => (room -= name.length + 3) >= 0);
}

/** What the ERP updates and installs. */
async function readUpdate({ operation, input: { account_id, instance_id, deploy_id } }: Deploy) {
  const { code, update, install } = await getPlan(account_id, deploy_id);
  return { instance_id, code_id: operation.id, update, install, secrets: await openSecrets(code) };
}

/**
 * Whether a deploy is rehearsed, also if it updates no module: code, packages and variables can keep an ERP from its start. The
 * rehearsal has a copy of the present data alone, which is not what the ERP gets where a backup's data comes back.
 */
const isRehearsed = ({ restore_database }: Deploy["input"]): boolean => !restore_database;

/** Without an update, a rehearsal only starts the ERP: a deploy goes on without one that the server has no slot or room for. */
async function updatesSome({ input: { account_id, deploy_id } }: Deploy): Promise<boolean> {
  const { update, install } = await getPlan(account_id, deploy_id);
  return update.length + install.length > 0;
}

/** Fails the deploy, unless it updates nothing and the error says nothing of the code. New code may keep the ERP from ending. */
async function failRehearsal(work: Deploy, error: unknown): Promise<void> {
  const { operation } = work;
  if (!(error instanceof GiveUp)) throw error;
  if (error.code === "HOST_JOB_FAILED") {
    if (await updatesSome(work)) throw withWayAround(error);
    return skipRehearsal(operation, error.reason);
  }
  const failure = error.code === "TIMEOUT" ? tooSlow(error) : error;
  if (failure.code === "REHEARSAL_FAILED") {
    const message = startInJson(inEnglish(failure.reason), ERROR_BYTES_MAX);
    await updateDeploy(operation, { rehearsal: { status: REHEARSAL.failed, duration_seconds: null, error: message } });
  }
  throw failure;
}

function tooSlow(error: GiveUp): GiveUp {
  const [, log] = splitReport(error.reason);
  const reason = because("rehearsal_slow", { minutes: JOB_MINUTES.rehearse_code });
  return new GiveUp("REHEARSAL_FAILED", joinReport(because("rehearsal_stopped", { why: reason }), log), { cause: error });
}

/** The log is of no failed step any more. */
async function skipRehearsal(operation: OperationRecord, reason: Reason): Promise<void> {
  const [reportedReason] = splitReport(reason);
  const error = startInJson(inEnglish(reportedReason), ERROR_BYTES_MAX);
  log.info("the deploy updates nothing, and goes on without a rehearsal", { error });
  const rehearsal = { status: REHEARSAL.skipped, duration_seconds: null, error };
  await updateDeploy(operation, { rehearsal, log_excerpt: null });
}

/** Keeps what the machine logged of a job that failed. */
async function runWithLog<K extends JobKind>(work: Deploy, job: Job<K>): Promise<JobProgress<K>> {
  const { operation, server } = work;
  try {
    return await run(await server(), job);
  } catch (error) {
    if (!(error instanceof GiveUp)) throw error;
    if (error.log !== undefined) await noteLog(operation, error.log);
    throw await nameCulprit(work, error);
  }
}

const noteLog = (operation: OperationRecord, text: string): Promise<void> =>
  updateDeploy(operation, { log_excerpt: endInJson(text, DEPLOY.logBytes) });

const SHORTAGES: readonly string[] = [
  "disk_full",
  "disk_almost_full",
  "disk_out_of_inodes",
  "disk_almost_out_of_inodes",
  "out_of_memory",
] satisfies ReasonCode[];

/** A shortage is no reason against the deploy. What the machine says of those that it looks for names the way already. */
function withWayAround(error: GiveUp): GiveUp {
  const [reason, log] = splitReport(error.reason);
  if (!SHORTAGES.includes(reason.code)) return error;
  return new GiveUp(error.code, joinReport(because("rehearsal_stopped", { why: reason }), log), { cause: error });
}

/** What a machine says of a job that failed, and the end of the job's log. */
function splitReport(reason: Reason): [reason: Reason, log: string | undefined] {
  if (reason.code !== "machine_reports") return [reason, undefined];
  const machineSentence = String(reason.parameters["why"]);
  return [
    reasonIn(machineSentence) ?? because("machine_reports_other", { output: machineSentence }),
    String(reason.parameters["log"]),
  ];
}

const joinReport = (reason: Reason, log: string | undefined): Reason =>
  log === undefined ? reason : because("machine_reports", { why: reason, log });

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

/** What is updated and installed, with the repository of each. */
async function nameModules({ input: { account_id, deploy_id } }: Deploy): Promise<string> {
  const { update, install, sources } = await getPlan(account_id, deploy_id);
  return nameWithSources([...update, ...install], sources);
}

async function runSettleJob(work: Deploy): Promise<boolean> {
  const { server, jobId } = work;
  await recordNewCode(work);
  return recordSettled(work, await run(await server(), { id: jobId, kind: "settle_code", ...settling(work) }));
}

const settling = ({ operation, input: { instance_id, restore_database: restored } }: Deploy) => ({
  instance_id,
  code_id: operation.id,
  restored,
});

async function recordSettled({ operation, input, instance }: Deploy, progress: JobProgress<"settle_code">): Promise<boolean> {
  // The plan has the versions of the code. Those of the data that came back, only the machine knows.
  if (input.restore_database) await recordRestored(await instance());
  if (progress.ready && progress.result !== null)
    await recordNeutralized(await instance(), operation, progress.result.neutralized);
  return progress.ready;
}

/** The ERP has the new code as soon as the deploy is committed, whatever becomes of what it replaced. */
async function recordNewCode({ operation, input, instance }: Deploy): Promise<void> {
  const { account_id, deploy_id } = input;
  const record = await instance();
  if ((await findCode(record)).deployed?.deploy_id === deploy_id) return;
  const [{ code, packages, select }, deploy] = await Promise.all([
    getPlan(account_id, deploy_id),
    getDeploy(account_id, deploy_id),
  ]);
  const { commits, python_packages: recorded } = deploy;
  // The server's next report says so, too.
  if (deploy.image !== null) await recordImage(record, deploy.image, await newestImages());
  const deployed = {
    deploy_id,
    code_id: operation.id,
    commits: toCommits(code.repositories, commits),
    python_packages: packages ?? recorded,
    whole: typeof select === "string",
  };
  await recordDeployed(record, deployed);
}

/** The end of what the ERP wrote with the new code; the undo removes that with its container. */
async function keepErpLog({ operation, input, server }: Deploy): Promise<void> {
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

/** What pip says of a package that it does not find, cannot build, or gets twice, and of packages that exclude each other. */
const PIP_STOPPED = new RegExp(
  "ERROR: (?:Could not find a version that satisfies the requirement|No matching distribution found for|" +
    "Failed building wheel for|Double requirement given:) (?<one>[A-Za-z0-9][A-Za-z0-9._-]{0,99})|" +
    "ERROR: Cannot install (?<several>[A-Za-z0-9][A-Za-z0-9 ,._<>=!~*[\\]-]{0,299}?) because these",
);

/** The new code stays, because the data from before may be gone by now. */
async function retrySettleCode(work: Deploy): Promise<boolean> {
  const { input, server, jobId, stepJobs, triedEnough } = work;
  await recordNewCode(work);
  try {
    const progress = await runUndo(await server(), { id: jobId, kind: "settle_code", ...settling(work), ends: stepJobs });
    return progress === "down" || (await recordSettled(work, progress));
  } catch (error) {
    if (!(error instanceof GiveUp && triedEnough)) throw error;
    log.error("the data from before a deploy is still on the machine", { instance: input.instance_id, error });
    return true;
  }
}
