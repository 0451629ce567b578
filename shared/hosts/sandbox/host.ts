// Simulated machines, stored in the table, with ERPs that hold real data: jobs take simulated seconds, archives are real.
import { pbkdf2, randomBytes, randomUUID } from "node:crypto";
import { promisify } from "node:util";
import {
  addErp,
  buildAttachments,
  beginJob,
  changeErp,
  type ErpDatabase,
  type ErpFiles,
  findErp,
  findMachine,
  finishJob,
  isReached,
  listErps,
  listJobs,
  later,
  removeErp,
  type SandboxErp,
  type SandboxMachine,
  setMachine,
} from "../../providers/sandbox/machines.ts";
import { imageFor } from "../../providers/sandbox/images.ts";
import { because } from "../../domain/reasons.ts";
import { GiveUp, TryAgain } from "../../platform/task-errors.ts";
import { putArchive } from "../../storage/archives.ts";
import { type JobResult, JOB_RESULTS, type Host, type HostedServer, type Job, type JobKind, requirePassword } from "../host.ts";
import {
  bringCode,
  fetchCode,
  installPackages,
  keepData,
  pullImages,
  rehearseCode,
  requireBroughtCode,
  resolveCode,
  secondsToFetch,
  settleCode,
  undoCode,
  updateModules,
} from "./code.ts";
import { listedFiles, missingFiles, packArchive } from "./archive.ts";
import { openArchive, requireStoredSize, sha256Of } from "./opened.ts";
import { importArchive } from "./import.ts";
import { differingModules, initialModules } from "./modules.ts";
import { drill } from "./drill.ts";
import { writeDatabaseLog, writeErpLog, writeJobLog, writeProxyLog } from "./log.ts";
import { buildReport, buildStatusLine } from "./report.ts";

export const sandbox: Host = {
  run: async <K extends JobKind>(server: HostedServer, job: Job<K>) => {
    const { machine_id } = await reach(server);
    const { seconds, work } = findWork<K>(job.kind);
    const sandboxJob = await beginJob(machine_id, job.id, job.kind, later(typeof seconds === "number" ? seconds : seconds(job)));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema is the one that types this kind's result
    const toReady = (result: unknown) => ({ ready: true, result: JOB_RESULTS[job.kind].parse(result) as JobResult<K> }) as const;
    if (sandboxJob.done) return toReady(JSON.parse(sandboxJob.answer ?? "null"));
    if (!isReached(sandboxJob.ready_at)) return { ready: false };
    const result = await work(machine_id, job);
    if (result === "not yet") return { ready: false };
    await finishJob(machine_id, job.id, result);
    return toReady(result);
  },
  probe: async (server, settings, since = 0) => {
    const machine = await responding(server);
    if (machine === undefined) return { responded: false };
    if (settings === undefined) return { responded: true, ...(await buildReport(machine, since)) };
    const changed = { quotas: Object.fromEntries(settings.quotas) };
    await setMachine(machine.machine_id, changed);
    return { responded: true, settingsTaken: true, ...(await buildReport({ ...machine, ...changed }, since)) };
  },
  greets: async (server) => (await responding(server)) !== undefined,
  statusLine: async (server) => {
    const machine = await responding(server);
    return machine === undefined ? undefined : buildStatusLine(machine);
  },
  readLog: async (server, { instance_id, source, since = "", until = "9999" }) => {
    const { machine_id, created_at } = await reach(server);
    const erp = await findErp(machine_id, instance_id);
    if (erp?.database == null) return undefined;
    const lines = WRITE_LOG[source](erp, { startedAt: erp.started_at ?? created_at, now: later(0) });
    // Each begins with its time, to the nanosecond: without the Z, a time in milliseconds is compared as a text.
    const [from, to] = [since.replace("Z", ""), until.replace("Z", "")];
    return lines.filter((line) => line >= from && line < to).join("\n");
  },
  readWorkLog: async (server, operationId) => {
    const { machine_id } = await reach(server);
    const text = (await listJobs(machine_id, operationId)).map(writeJobLog).join("");
    return { text, lines: text.split("\n").length - 1 };
  },
};

const WRITE_LOG = { erp: writeErpLog, database: writeDatabaseLog, proxy: writeProxyLog } as const;

/** The machine, if it responds to a health check. */
async function responding({ machine_id }: HostedServer): Promise<SandboxMachine | undefined> {
  const machine = machine_id === null ? undefined : await findMachine(machine_id);
  if (machine === undefined || machine.offline) return undefined;
  if (!machine.name.startsWith("goes-offline")) return machine;
  // The first health check finds it gone; until then it can be given an instance, to see what becomes of that.
  await setMachine(machine.machine_id, { offline: true });
  return undefined;
}

async function reach({ machine_id }: HostedServer): Promise<SandboxMachine> {
  const machine = machine_id === null ? undefined : await findMachine(machine_id);
  if (machine === undefined || machine.offline) throw new TryAgain("HOST_UNREACHABLE", because("server_silent"));
  return machine;
}

interface Kind<K extends JobKind> {
  /** How long it takes: less than the second after which a workflow polls again, unless it is to take longer. */
  seconds: number | ((job: Job<K>) => number);
  /** May run twice. */
  work: (machineId: string, job: Job<K>) => Promise<JobResult<K> | "not yet">;
}

const KINDS: { [K in JobKind]: Kind<K> } = {
  prepare_host: {
    seconds: 0.7,
    work: async (machineId) => {
      await setMachine(machineId, { prepared: true });
      return { host_key: null };
    },
  },
  adopt_host_key: { seconds: 0, work: () => Promise.resolve(null) },
  retire_host: { seconds: 0, work: () => Promise.resolve(null) },
  install_erp: { seconds: 0.7, work: install },
  remove_erp: {
    seconds: 0.3,
    work: async (machineId, { instance_id }) => {
      await removeErp(machineId, instance_id);
      return null;
    },
  },
  start_erp: {
    seconds: 0.3,
    work: (machineId, job) => change(machineId, job, () => ({ status: "running", restarted: true, started_at: later(0) })),
  },
  stop_erp: { seconds: 0.3, work: (machineId, job) => change(machineId, job, () => ({ status: "stopped" })) },
  restart_erp: {
    seconds: 0.5,
    work: (machineId, job) => change(machineId, job, () => ({ status: "running", restarted: true, started_at: later(0) })),
  },
  check_health: {
    seconds: 0,
    work: async (machineId, { instance_id }) => {
      const erp = await findErp(machineId, instance_id);
      if (erp?.status !== "running" || erp.database === null) return "not yet";
      const unfinished_modules = erp.domain.startsWith("fail-modules.") ? ["sale", "stock"] : [];
      return { unfinished_modules, modules: differingModules(erp, erp.database) };
    },
  },
  make_archive: { seconds: 0.5, work: makeArchive },
  forget_archive: { seconds: 0, work: () => Promise.resolve(null) },
  verify_archive: {
    seconds: 0,
    work: async (_machineId, { archive }) => {
      await requireStoredSize(archive);
      return null;
    },
  },
  build_restore: { seconds: 0.7, work: build },
  drill_archive: {
    seconds: 0.7,
    work: async (machineId, job) => {
      await requireBroughtCode(machineId, job.code);
      return drill(job);
    },
  },
  import_archive: { seconds: 0.7, work: (_machineId, job) => importArchive(job) },
  remove_drill: { seconds: 0, work: () => Promise.resolve(null) },
  pause_erp: { seconds: 0.1, work: (machineId, job) => change(machineId, job, () => ({ status: "stopped" })) },
  swap_restore: { seconds: 0.1, work: swap },
  restore_archive: {
    seconds: 0.7,
    work: async (machineId, job) => {
      const restored = await restoredData(job);
      await change(machineId, job, restored);
      return { modules: await readModules(machineId, job) };
    },
  },
  put_back: { seconds: 0.3, work: putBack },
  drop_old: {
    seconds: 0,
    work: async (machineId, job) => {
      await change(machineId, job, ({ replaced }) => (replaced?.restore_id === job.restore_id ? { replaced: null } : {}));
      return { neutralized: toDatabase(await installed(machineId, job)).neutralized };
    },
  },
  neutralize: {
    seconds: 0,
    work: (machineId, job) => change(machineId, job, (erp) => ({ database: neutralized(toDatabase(erp)) })),
  },
  personalize: { seconds: 0, work: personalize },
  move_domain: {
    seconds: 0.5,
    work: (machineId, job) =>
      change(machineId, job, (erp) => ({
        domain: job.domain,
        database: { ...toDatabase(erp), base_url: baseUrl(job.domain) },
      })),
  },
  bring_code: { seconds: 0.5, work: bringCode },
  resolve_code: { seconds: 0, work: resolveCode },
  fetch_code: { seconds: secondsToFetch, work: fetchCode },
  pull_images: { seconds: 0.3, work: pullImages },
  install_packages: { seconds: 0, work: installPackages },
  rehearse_code: { seconds: 0.5, work: rehearseCode },
  keep_data: { seconds: 0, work: keepData },
  update_modules: { seconds: 0.8, work: updateModules },
  settle_code: { seconds: 0, work: settleCode },
  undo_code: { seconds: 0.3, work: undoCode },
  reboot_host: {
    seconds: 0.7,
    work: async (machineId) => {
      for (const [instance_id, { status }] of await listErps(machineId))
        if (status === "running") await change(machineId, { instance_id }, startAgain);
      await setMachine(machineId, { rebooted: true });
      return { downtime_seconds: 1 };
    },
  },
  update_host: { seconds: 0.5, work: () => Promise.resolve(null) },
  update_proxy: { seconds: 0.3, work: () => Promise.resolve(null) },
  update_database: {
    seconds: 0.3,
    work: async (machineId, job) => {
      const { status } = await installed(machineId, job);
      if (status !== "running") return { downtime_seconds: null };
      await change(machineId, job, startAgain);
      return { downtime_seconds: 1 };
    },
  },
  put_database_back: { seconds: 0, work: () => Promise.resolve(null) },
  verify_clone: {
    seconds: 0,
    work: async (machineId, job) => {
      const erp = await installed(machineId, job);
      const { uuid, neutralized, crons, mail_servers, base_url } = toDatabase(erp);
      return {
        is_neutralized: neutralized,
        active_crons: crons.filter(({ active }) => active).length,
        active_mail_servers: mail_servers.filter(({ active }) => active).length,
        new_database_uuid: uuid !== erp.archived_uuid,
        base_url,
      };
    },
  },
};

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a job and its kind go together, which a look-up forgets
const findWork = <K extends JobKind>(kind: JobKind): Kind<K> => KINDS[kind] as unknown as Kind<K>;

async function install(machineId: string, { instance, database, admin_password, start }: Job<"install_erp">): Promise<null> {
  if (instance.domain.startsWith("fail-install.")) throw new GiveUp("HOST_JOB_FAILED", because("erp_not_initialized"));
  if ((await findErp(machineId, instance.id)) !== undefined) return null;
  const { id, erp_version, edition, database_name, domain } = instance;
  const fresh = database === "fresh" ? await freshDatabase(instance, admin_password) : undefined;
  await addErp(machineId, id, {
    status: start ? "running" : "stopped",
    erp_version,
    edition,
    database_name,
    domain,
    database: fresh?.database ?? null,
    files: fresh?.files ?? {},
    replaced: null,
    built: null,
    archived_uuid: null,
    image: imageFor(domain),
    pulled: null,
    code: null,
    fetched: null,
    before_code: null,
    restarted: false,
    started_at: start ? later(0) : null,
  });
  return null;
}

async function freshDatabase({ domain, admin_email, ...code }: Job<"install_erp">["instance"], password: string | undefined) {
  const { attachments, files } = buildAttachments({});
  const database: ErpDatabase = {
    uuid: randomUUID(),
    secret: randomUUID(),
    base_url: baseUrl(domain),
    neutralized: false,
    crons: ["Base: Auto-vacuum internal data", "Mail: Email Queue Manager", "Mail: Fetchmail Service"].map(switchedOn),
    mail_servers: ["Outgoing mail"].map(switchedOn),
    admin_login: admin_email,
    admin_password_hash: await hashPassword(requirePassword(password)),
    users: [{ login: "demo", password_hash: await hashPassword(randomUUID()), api_keys: [randomUUID()] }],
    data: "{}",
    attachments,
    modules: { ...initialModules(code), ...(domain.startsWith("missing-modules.") && { queue_job: `${code.erp_version}.2.0` }) },
    updated_with: imageFor(domain),
  };
  return { database, files };
}

async function makeArchive(machineId: string, job: Job<"make_archive">): Promise<JobResult<"make_archive">> {
  const erp = await installed(machineId, job);
  const database = toDatabase(erp);
  const bytes = packArchive({ ...erp, database }, later(0), job.code);
  if (job.note === "fail-upload") throw new GiveUp("STORAGE_ERROR", because("archive_not_uploaded"));
  const sha256 = sha256Of(bytes);
  // Damaged between hashing and upload: the storage has what it received, but that is not what was created.
  const sent = job.note === "corrupt" ? damaged(bytes) : bytes;
  return {
    size_bytes: bytes.length,
    sha256,
    stored_checksum: await putArchive(job.key, sent),
    missing_files: missingFiles({ database, files: erp.files }).length,
    listed_files: listedFiles(database).length,
    skipped_files: 0, // there are only files here
    skipped_paths: [],
  };
}

function damaged(bytes: Uint8Array): Uint8Array {
  const middle = Math.floor(bytes.length / 2);
  return bytes.map((byte, index) => (index === middle ? byte ^ 0xff : byte));
}

/** The archive is open, and so proven whole, before anything is touched. */
async function restoredData(job: Job<"build_restore" | "restore_archive">) {
  const archived = await openArchive(job.archive);
  return (erp: SandboxErp) => {
    const source = job.restore_database ? { ...archived.database, base_url: baseUrl(erp.domain) } : toDatabase(erp);
    return {
      database: job.neutralize ? neutralized(source) : source,
      files: filesAfter(job, erp.files, archived.files),
      archived_uuid: job.restore_database ? archived.database.uuid : erp.archived_uuid,
    };
  };
}

async function build(machineId: string, job: Job<"build_restore">): Promise<JobResult<"build_restore">> {
  const restored = await restoredData(job);
  await change(machineId, job, (erp) => {
    if (erp.replaced?.restore_id === job.restore_id) return {}; // swapped already
    const { archived_uuid, database, files } = restored(erp);
    return { archived_uuid, built: { restore_id: job.restore_id, database, files } };
  });
  return { modules: await readModules(machineId, job) };
}

/** Modules of the database that was just built or restored. */
async function readModules(machineId: string, job: Job<"build_restore" | "restore_archive">) {
  if (!job.restore_database) return null;
  const erp = await installed(machineId, job);
  return differingModules(erp, erp.built?.database ?? toDatabase(erp));
}

/** Without its database, the archive's files are added to those that the present database names. */
function filesAfter(
  { restore_database, restore_filestore }: Pick<Job<"swap_restore">, "restore_database" | "restore_filestore">,
  currentFiles: ErpFiles,
  archived: ErpFiles,
): ErpFiles {
  if (!restore_filestore) return currentFiles;
  return restore_database ? archived : { ...currentFiles, ...archived };
}

/** The part that is not restored comes from the current data, not from when the rest was built. */
async function swap(machineId: string, job: Job<"swap_restore">): Promise<JobResult<"swap_restore">> {
  await change(machineId, job, (erp) => {
    const { built, database, files } = erp;
    if (erp.replaced?.restore_id === job.restore_id) return { status: "running" }; // done by a try whose response was lost
    if (built?.restore_id !== job.restore_id) throw new GiveUp("HOST_JOB_FAILED", because("data_not_prepared"));
    return {
      status: "running",
      database: job.restore_database ? built.database : database,
      files: filesAfter(job, files, built.files),
      replaced: { restore_id: job.restore_id, database, files },
      built: null,
    };
  });
  return { downtime_seconds: 1 };
}

async function putBack(machineId: string, { instance_id, restore_id, start }: Job<"put_back">): Promise<null> {
  await changeErp(machineId, instance_id, ({ replaced, built }) => {
    const status = start ? "running" : "stopped";
    if (replaced?.restore_id === restore_id)
      return { database: replaced.database, files: replaced.files, replaced: null, built: null, status };
    return built?.restore_id === restore_id ? { built: null, ...(start && { status }) } : {};
  });
  return null;
}

async function personalize(machineId: string, job: Job<"personalize">): Promise<null> {
  const identity = {
    ...(!job.keep_uuid && { uuid: randomUUID() }),
    secret: randomUUID(),
    base_url: baseUrl(job.domain),
    admin_login: job.admin_email,
    admin_password_hash: await hashPassword(requirePassword(job.admin_password)),
  };
  return change(machineId, job, (erp) => {
    const database = toDatabase(erp);
    const users = job.reset_users ? database.users.map(withoutLogin) : database.users;
    if (users.some(({ login }) => login === job.admin_email))
      throw new GiveUp("HOST_JOB_FAILED", because("login_taken", { login: job.admin_email }));
    return { domain: job.domain, database: { ...database, ...identity, users } };
  });
}

/** Sessions end by themselves: the clone's secret is another one. */
const withoutLogin = ({ login }: { login: string }) => ({ login, password_hash: "", api_keys: [] });

interface OfInstance {
  instance_id: string;
}

async function change(machineId: string, { instance_id }: OfInstance, edit: Parameters<typeof changeErp>[2]): Promise<null> {
  if (!(await changeErp(machineId, instance_id, edit))) throw notInstalled();
  return null;
}

const startAgain = () => ({ restarted: true, started_at: later(0) });

const baseUrl = (domain: string): string => `https://${domain}`;

function neutralized(database: ErpDatabase): ErpDatabase {
  const { crons, mail_servers } = database;
  return { ...database, neutralized: true, crons: crons.map(switchedOff), mail_servers: mail_servers.map(switchedOff) };
}

const switchedOn = (name: string) => ({ name, active: true });
const switchedOff = ({ name }: { name: string }) => ({ name, active: false });

const notInstalled = (): GiveUp => new GiveUp("HOST_JOB_FAILED", because("erp_not_installed"));

async function installed(machineId: string, { instance_id }: OfInstance): Promise<SandboxErp> {
  const erp = await findErp(machineId, instance_id);
  if (erp === undefined) throw notInstalled();
  return erp;
}

function toDatabase(erp: SandboxErp): ErpDatabase {
  if (erp.database === null) throw new GiveUp("HOST_JOB_FAILED", because("erp_has_no_database"));
  return erp.database;
}

/** Hashes a password as the ERP itself does. */
async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt, HASH_ROUNDS, 64, "sha512");
  return `$pbkdf2-sha512$${HASH_ROUNDS}$${salt.toString("base64url")}$${hash.toString("base64url")}`;
}
const derive = promisify(pbkdf2);
/** Fewer iterations than the ERP's own, because nobody signs in here. */
const HASH_ROUNDS = 10_000;
