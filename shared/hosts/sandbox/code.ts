// Deploys in the sandbox: simulated repositories, whose modules the simulated ERPs install, update, and get back.
import { describeImage, NEWEST_IMAGE } from "../../providers/sandbox/images.ts";
import { changeErp, findErp, findMachine, later, type SandboxErp } from "../../providers/sandbox/machines.ts";
import { fetchSandboxCommit, findSandboxCommit, isSandboxUrl, SPECIAL_REFS } from "../../providers/sandbox/repositories.ts";
import { BASE } from "../../domain/module-plan.ts";
import { because, inEnglish, type Reason, reasonIn } from "../../domain/reasons.ts";
import { GiveUp } from "../../platform/task-errors.ts";
import type { BroughtCode, Job, JobResult } from "../host.ts";
import { imageModules } from "./modules.ts";

const { brokenManifest, failBuild, failRehearsal, failUpdate, moved, slow } = SPECIAL_REFS;

/** How much longer a repository takes that is slow. */
const SLOW_SECONDS = 20;
export const secondsToFetch = ({ repositories }: Job<"fetch_code">): number =>
  0.7 + (repositories.some(({ ref }) => ref === slow) ? SLOW_SECONDS : 0);

/** Host key of git.example; nobody has its private half. */
const HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPr5c7mS1eKzUd0yYH1V7o9lD8bC0Jt2XnZxqk3GzWlM";

async function accountOf(machineId: string): Promise<string> {
  const machine = await findMachine(machineId);
  if (machine === undefined) throw new Error(`There is no machine ${machineId}`);
  return machine.account_id;
}

export async function resolveCode(machineId: string, { repositories }: Job<"resolve_code">): Promise<JobResult<"resolve_code">> {
  const account = await accountOf(machineId);
  const commits = await Promise.all(
    repositories.map(async ({ url, ref }) => {
      const match = await findSandboxCommit(account, url, ref);
      const host_key = url.startsWith("ssh:") ? HOST_KEY : null;
      if (match !== undefined) return { commit: match.commit, problem: null, host_key };
      const reason = isSandboxUrl(url) ? because("code_no_ref", { url, ref }) : because("code_no_access", { url });
      return { commit: null, problem: inEnglish(reason), host_key };
    }),
  );
  return { commits };
}

type FetchedRepository = Job<"fetch_code">["repositories"][number];
type Problem = JobResult<"fetch_code">["problems"][number];

export async function fetchCode(machineId: string, job: Job<"fetch_code">): Promise<JobResult<"fetch_code">> {
  const account = await accountOf(machineId);
  const contents = await Promise.all(job.repositories.map((repository) => fetchSandboxCommit(account, repository)));
  const erp = await findErp(machineId, job.instance_id);
  if (erp === undefined) throw new GiveUp("HOST_JOB_FAILED", because("erp_not_installed"));
  // The first repository that has a module counts.
  const modules: Record<string, string> = Object.assign({}, ...contents.map((each) => each?.modules ?? {}).toReversed());
  const database = new Map(Object.entries(erp.database?.modules ?? {}));
  const before = job.keep ? database : new Map(Object.entries(erp.code?.modules ?? {}));
  if (job.keep) {
    const fetched = { code_id: job.code_id, modules, refs: job.repositories.map(({ ref }) => ref) };
    await changeErp(machineId, job.instance_id, ({ code }) => (code?.code_id === job.code_id ? {} : { fetched }));
  }
  return {
    subjects: contents.map((each) => each && `Modules ${Object.keys(each.modules).join(", ")}`).map((subject) => subject ?? null),
    problems: job.repositories.flatMap((repository, index) =>
      problemsOf(repository, index, Object.keys(contents[index]?.modules ?? {})),
    ),
    modules: Object.entries(modules)
      .map(([name, version]) => ({
        name,
        version,
        changed: before.get(name) !== version,
        database_version: database.get(name) ?? null,
        repository: contents.findIndex((each) => each !== undefined && Object.hasOwn(each.modules, name)),
      }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    installed: [...new Set([...Object.keys(modules), ...job.named_modules])].filter((name) => database.has(name)),
    missing: job.keep ? missingModules(erp, modules) : [],
    image_changed: isOutdated(erp),
    compared_with: job.keep ? null : (erp.code?.code_id ?? ""),
  };
}

/** Installed modules that the ERP would lose with this code. */
function missingModules(erp: SandboxErp, modules: Readonly<Record<string, string>>): string[] {
  const image = imageModules(erp);
  const installed = new Set(Object.keys(erp.database?.modules ?? {}));
  const deployedModules = Object.keys(erp.code?.modules ?? {});
  return deployedModules.filter((name) => installed.has(name) && !Object.hasOwn(modules, name) && !image.has(name)).toSorted();
}

/** Whether the database was last updated with another image than the ERP has. */
const isOutdated = ({ database, image }: SandboxErp): boolean =>
  database?.updated_with != null && database.updated_with !== image;

/** What was deployed elsewhere: there is nothing to copy it from. */
async function fetchBroughtCode(machineId: string, { repositories }: BroughtCode): Promise<Record<string, string>> {
  const account = await accountOf(machineId);
  const contents = await Promise.all(repositories.map((repository) => fetchSandboxCommit(account, repository)));
  const [problem] = repositories.flatMap((repository, index) =>
    problemsOf(repository, index, Object.keys(contents[index]?.modules ?? {})),
  );
  if (problem !== undefined)
    throw new GiveUp(problem.code, reasonIn(problem.problem) ?? because("machine_reports_other", { output: problem.problem }));
  const modules: Record<string, string> = Object.assign({}, ...contents.map((each) => each?.modules ?? {}).toReversed());
  return modules;
}

/** Throws what keeps the code of a backup from being brought. */
export const requireBroughtCode = async (machineId: string, code: BroughtCode | undefined): Promise<void> => {
  if (code !== undefined) await fetchBroughtCode(machineId, code);
};

export async function bringCode(machineId: string, { instance_id, code_id, code }: Job<"bring_code">): Promise<null> {
  const modules = await fetchBroughtCode(machineId, code);
  const refs = code.repositories.map(({ ref }) => ref);
  await change(machineId, instance_id, () => ({ code: { code_id, modules, refs } }));
  return null;
}

function problemsOf({ url, ref, path, commit }: FetchedRepository, repository: number, names: readonly string[]): Problem[] {
  const invalid = (module: string | null, reason: Reason): Problem[] => [
    { code: "CODE_INVALID", repository, module, problem: inEnglish(reason) },
  ];
  const [module] = names;
  if (ref === moved)
    return [
      { code: "CODE_UNREACHABLE", repository, module: null, problem: inEnglish(because("code_moved", { url, ref, commit })) },
    ];
  if (module === undefined)
    return invalid(null, path === null ? because("code_no_module", { url }) : because("code_no_module_in_path", { url, path }));
  if (ref === brokenManifest)
    return invalid(module, because("code_manifest", { module, url, output: "'{' was never closed (line 1)" }));
  return [];
}

/** The refs of the code that a job is about. */
async function refsOf(machineId: string, { instance_id, code_id }: { instance_id: string; code_id: string }): Promise<string[]> {
  const erp = await findErp(machineId, instance_id);
  const code = [erp?.fetched, erp?.code].find((each) => each?.code_id === code_id);
  if (code == null) throw new GiveUp("HOST_JOB_FAILED", because("data_not_prepared"));
  return code.refs;
}

export async function pullImages(
  machineId: string,
  { instance_id, code_id, image }: Job<"pull_images">,
): Promise<JobResult<"pull_images">> {
  const next = describeImage(image?.id ?? NEWEST_IMAGE.id);
  let before = "";
  await change(machineId, instance_id, (erp) => {
    before = erp.image;
    return { pulled: { code_id, image: next.id } };
  });
  return { ...next, previous_id: before, changed: before !== next.id, modules: null };
}

export async function installPackages(machineId: string, job: Job<"install_packages">): Promise<JobResult<"install_packages">> {
  const refs = await refsOf(machineId, job);
  if (refs.includes(failBuild))
    throw new GiveUp("BUILD_FAILED", because("python_packages_not_installed"), {
      log: "ERROR: Could not find a version that satisfies the requirement nowhere==1.0 (from versions: none)",
    });
  return { packages: job.packages.map(resolved) };
}

/** A range is resolved to its first version. */
function resolved(requirement: string): string {
  const [, name = "", version = ""] = /^([A-Za-z0-9._-]+).*?([0-9][A-Za-z0-9.]*)/.exec(requirement) ?? [];
  return `${name}==${version}`;
}

const TRACEBACK = `Traceback (most recent call last):
  File "/addons/1-acme/acme/models/price.py", line 12, in <module>
    class Price(models.Model):
ValueError: The field price.amount has no such attribute`;

export async function rehearseCode(machineId: string, job: Job<"rehearse_code">): Promise<JobResult<"rehearse_code">> {
  const refs = await refsOf(machineId, job);
  const erp = await findErp(machineId, job.instance_id);
  if (refs.includes(failRehearsal) || (erp !== undefined && versionsIn(erp, job) === undefined))
    throw new GiveUp("REHEARSAL_FAILED", whyNotRehearsed(namesIn(job)), { log: TRACEBACK });
  return { duration_seconds: 1 };
}

/** The versions of what is updated and installed, in the code or the image; undefined if neither has one of them. */
function versionsIn(
  erp: SandboxErp,
  { code_id, update, install }: Job<"rehearse_code" | "update_modules">,
): Record<string, string> | undefined {
  const next = erp.fetched?.code_id === code_id ? erp.fetched : erp.code;
  const available = new Map([...imageModules(erp), ...Object.entries(next?.modules ?? {})]);
  const versions = [...update, ...install].map((name) => [name, available.get(name)] as const);
  const availableVersions = versions.flatMap(([name, version]) => (version === undefined ? [] : [[name, version] as const]));
  return availableVersions.length < versions.length ? undefined : Object.fromEntries(availableVersions);
}

const whyNotRehearsed = (modules: string): Reason =>
  modules === "" ? because("rehearsal_not_started") : because("rehearsal_failed", { modules });

const namesIn = ({ update, install }: Job<"rehearse_code" | "update_modules">): string =>
  [...update, ...install].slice(0, 20).join(", ");

/** The database, the files and the code are put aside as they are, until they are settled or put back. */
export async function keepData(
  machineId: string,
  { instance_id, code_id }: Pick<Job<"keep_data">, "instance_id" | "code_id">,
): Promise<null> {
  await change(machineId, instance_id, (erp) => {
    if (erp.before_code?.code_id === code_id) return { status: "stopped" };
    const { database, files, code, image, status } = erp;
    return { status: "stopped", before_code: { code_id, database, files, code, image, was_running: status === "running" } };
  });
  return null;
}

/** An update that fails has changed something already. */
export async function updateModules(machineId: string, job: Job<"update_modules">): Promise<JobResult<"update_modules">> {
  const refs = await refsOf(machineId, job);
  await keepData(machineId, job);
  let isMissing = false;
  await change(machineId, job.instance_id, (erp) => {
    const { fetched, code, database, pulled, image: before } = erp;
    const image = pulled?.code_id === job.code_id ? pulled.image : before;
    const next = fetched?.code_id === job.code_id ? fetched : code;
    if (next == null || database === null) throw new GiveUp("HOST_JOB_FAILED", because("data_not_prepared"));
    const versions = versionsIn(erp, job);
    isMissing = versions === undefined;
    return {
      code: next,
      fetched: null,
      image,
      pulled: null,
      database: {
        ...database,
        modules: { ...database.modules, ...versions },
        updated_with: job.update.includes(BASE) ? image : (database.updated_with ?? image),
      },
    };
  });
  if (isMissing || refs.includes(failUpdate))
    throw new GiveUp("UPDATE_FAILED", because("update_failed", { modules: namesIn(job) }), { log: TRACEBACK });
  return startCode(machineId, job);
}

async function startCode(
  machineId: string,
  { instance_id, code_id }: Job<"update_modules">,
): Promise<JobResult<"update_modules">> {
  let wasRunning = false;
  let id = "";
  await change(machineId, instance_id, ({ before_code, image }) => {
    wasRunning = before_code?.code_id === code_id && before_code.was_running;
    id = image;
    return { status: "running", restarted: true, started_at: later(0) };
  });
  return { downtime_seconds: wasRunning ? 1 : null, image: { id, digest: null } };
}

export async function settleCode(
  machineId: string,
  { instance_id, code_id, restored }: Job<"settle_code">,
): Promise<JobResult<"settle_code">> {
  let neutralized = false;
  await change(machineId, instance_id, ({ before_code, database }) => {
    neutralized = database?.neutralized ?? false;
    return before_code?.code_id === code_id ? { before_code: null } : {};
  });
  return restored ? { neutralized } : null;
}

export async function undoCode(
  machineId: string,
  { instance_id, code_id, start }: Job<"undo_code">,
): Promise<JobResult<"undo_code">> {
  let wasRunning = false;
  await changeErp(machineId, instance_id, ({ before_code, fetched }) => {
    wasRunning = before_code?.code_id === code_id && before_code.was_running;
    const dropped = { pulled: null, ...(fetched?.code_id === code_id && { fetched: null }) };
    if (before_code?.code_id !== code_id) return dropped;
    const { database, files, code, image } = before_code;
    return { ...dropped, database, files, code, image, before_code: null, status: start ? "running" : "stopped" };
  });
  return { downtime_seconds: wasRunning ? 1 : null };
}

async function change(machineId: string, instanceId: string, edit: (erp: SandboxErp) => Partial<SandboxErp>): Promise<void> {
  if (!(await changeErp(machineId, instanceId, edit))) throw new GiveUp("HOST_JOB_FAILED", because("erp_not_installed"));
}
