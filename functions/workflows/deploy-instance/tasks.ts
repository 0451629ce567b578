// What the steps of deploying an instance's code do.
import { toCommits, findProblems, requireNoProblem } from "../../../shared/operations/code/code-checks.ts";
import { isOutdated } from "../../../shared/operations/monitoring/images.ts";
import { getBackup } from "../../../shared/records/backups.ts";
import { findCode, recordChecked } from "../../../shared/records/code.ts";
import { openEnvironment, openRepositories } from "../../../shared/records/code-secrets.ts";
import {
  getDeploy,
  getPlan,
  recordStartedImage,
  recordPackages,
  updateDeploy,
  setModules,
  planFullUpdate,
} from "../../../shared/records/deploys.ts";
import { showTransientState } from "../../../shared/records/instances.ts";
import { addResult, setFailedState, recordModulesBefore, recordModules } from "../../../shared/records/operations.ts";
import { abandonedState, DEPLOY_STATUS, LIFECYCLE } from "../../../shared/domain/lifecycle.ts";
import { isNewer } from "../../../shared/domain/missing-modules.ts";
import { firstNamed, nameWithSources, planModules } from "../../../shared/domain/module-plan.ts";
import { because } from "../../../shared/domain/reasons.ts";
import type { JobResult } from "../../../shared/hosts/host.ts";
import { removeSentArchive, isServing, run, runUndo } from "../../../shared/hosts/index.ts";
import { newestImages } from "../../../shared/providers/images.ts";
import { GiveUp, NotYet } from "../../../shared/platform/task-errors.ts";
import { closeSafetyBackup, makeSafetyBackup } from "../../../shared/runtime/safety-backup.ts";
import { tasks } from "../../../shared/runtime/tasks.ts";
import { requireStoredArchive } from "../../../shared/storage/stored-archive.ts";
import { keepErpLog, nameModules, readUpdate, runWithLog } from "./jobs.ts";
import { awaitPlace, leavePlace, rehearse } from "./rehearsal.ts";
import { retrySettleCode, settleCode } from "./settling.ts";
import workflow from "./workflow.ts";

/**
 * What a deploy shows of the names of its modules, of each kind, and of its packages, so that its record stays below 64 KB with
 * the largest commits (30 KB), choices (7 KB), log, and error of its rehearsal (`ERROR_BYTES_MAX` in `rehearsal.ts`).
 */
const NAMES_BYTES_MAX = 3 * 1024;
const PACKAGES_BYTES_MAX = 4 * 1024;

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

  awaitPlace,
  rehearse,

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

  settleCode,

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

  leavePlace,
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
