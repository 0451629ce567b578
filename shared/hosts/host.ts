// The interface to a machine: jobs that start once, however often they are requested, and are polled until they are ready.
import * as z from "zod";
import { DrillCheck } from "../api/drill.ts";
import { Verification } from "../api/operations.ts";
import type { StatusLine } from "../operations/monitoring/health.ts";
import type { RepositoryAccess, Variable } from "../records/code-secrets.ts";
import type { MachineReport } from "../records/host-reports.ts";
import type { InstanceRecord } from "../records/schemas/instance.ts";
import type { ServerRecord } from "../records/schemas/server.ts";
import type { Sample } from "../domain/metrics.ts";
import type { LogSource } from "../domain/log-levels.ts";
import type { WorkLog } from "../domain/log-lines.ts";
import { EDITIONS } from "../domain/erp-versions.ts";
import { startInJson } from "../domain/json-bytes.ts";
import { CODE } from "../domain/limits.ts";
import { because, type Reason } from "../domain/reasons.ts";
import { GiveUp } from "../platform/task-errors.ts";
import type { StoredArchive } from "../storage/stored-archive.ts";

export const MadeArchive = z.object({
  size_bytes: z.number().int(),
  /** Checksum of the whole archive, in hexadecimal. */
  sha256: z.string(),
  /** What the store must show as the object's own checksum: of its parts, if it was uploaded in parts. */
  stored_checksum: z.string(),
  /** Files that the database names and the file tree lacked. */
  missing_files: z.number().int(),
  /** How many it names; null also of jobs that were started by versions before 1.0.0. */
  listed_files: z.number().int().nullable().default(null),
  /** Files that were skipped: links, devices, sockets, names that are not UTF-8. */
  skipped_files: z.number().int(),
  /** Some of those, for people. */
  skipped_paths: z.array(z.string()),
});
export type MadeArchive = z.infer<typeof MadeArchive>;

/** Returns what an operation's result says of what was left out: nothing if nothing was. */
export const skippedIn = ({ skipped_paths }: MadeArchive): { skipped_paths?: string[] } =>
  skipped_paths.length === 0 ? {} : { skipped_paths };

/** Statements of one kind in a dump that were not loaded, because they are about the server that it comes from. */
export const LeftOut = z.object({
  kind: z.string().max(50),
  count: z.number().int().positive(),
  /** Some of them, without the texts in them. Written by anyone. */
  names: z
    .array(z.string().transform((name) => name.slice(0, NAME_CHARACTERS_MAX)))
    .transform((names) => names.slice(0, NAMES_MAX)),
});
export type LeftOut = z.infer<typeof LeftOut>;
const NAMES_MAX = 20;
const NAME_CHARACTERS_MAX = 120;

/**
 * Installed modules that the ERP's image does not have in the same version; null if that could not be found out. Named by anyone.
 */
const DifferingModules = z
  .array(
    z.object({
      name: z.string().transform((name) => name.replaceAll(/[^A-Za-z0-9_.-]/g, "_").slice(0, 64)),
      version: z.string().nullable().catch(null),
      image_version: z.string().nullable(),
    }),
  )
  .nullable()
  .default(null);

/** The modules of a database that was built from an archive; null from scripts that don't report them yet. */
const Modules = z.object({ modules: DifferingModules });

const ImageId = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const Commit = z.string().regex(/^[0-9a-f]{40}$/);
const ModuleName = z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/);
const SUBJECT_CHARACTERS_MAX = 200;
/** The same limit in bytes, for longer characters: the record of a deploy of all repositories has at most 64 KB. */
const SUBJECT_BYTES_MAX = 300;
const toSubject = (text: string): string =>
  startInJson(Array.from(text).slice(0, SUBJECT_CHARACTERS_MAX).join(""), SUBJECT_BYTES_MAX);

export type UploadedArchive = Pick<StoredArchive, "key" | "size_bytes" | "sha256">;

interface OfInstance {
  instance_id: string;
}

/** `code_id` names the code on the machine: it is the deploy's, or the check's operation. */
interface OfCode extends OfInstance {
  code_id: string;
  /** What its log must not show; they stay here. */
  secrets?: readonly string[];
}

/** The `code` of an archive's manifest. */
interface ManifestCode {
  repositories: { url: string; ref: string; path: string | null; commit: string }[];
  python_packages: string[];
}

/** Code that is brought to where it was not deployed. */
export interface BroughtCode {
  repositories: readonly (RepositoryAccess & { commit: string })[];
  packages: readonly string[];
  allow_source_builds: boolean;
  environment: readonly Variable[];
  /** A copy of the code that this machine may have. */
  from: { instance_id: string; code_id: string } | undefined;
}

/** What the ERP updates and installs. */
interface OfUpdate extends OfCode {
  update: readonly string[];
  install: readonly string[];
}

interface OfBuild extends OfInstance {
  restore_id: string;
  archive: StoredArchive;
  restore_database: boolean;
  restore_filestore: boolean;
  neutralize: boolean;
}

/** The parameters of each kind of job. Passwords are undefined once they were used: then the job must be done. */
interface JobInput {
  /** Brings the machine to the state in which instances can be put on it, and lets these SSH keys of the account in. */
  prepare_host: { ssh_keys: readonly string[] };
  /** The machine presents the host key that `prepare_host` created, and no longer the one that it was created with. */
  adopt_host_key: object;
  /** The account's keys and whatever its instances left are removed: the machine may be another account's next. */
  retire_host: object;
  /** `database: "none"` for one that is restored next. */
  install_erp: {
    instance: Pick<InstanceRecord, "id" | "erp_version" | "edition" | "database_name" | "domain" | "admin_email">;
    database: "fresh" | "none";
    admin_password: string | undefined;
    start: boolean;
  };
  remove_erp: OfInstance;
  start_erp: OfInstance;
  stop_erp: OfInstance;
  restart_erp: OfInstance;
  /** Ready when the ERP responds correctly, as seen from the machine itself. */
  check_health: OfInstance;
  /** `restore_id` names the restore that it is taken for, if it is. */
  make_archive: OfInstance & {
    key: string;
    note: string | null;
    restore_id?: string;
    /** What the ERP has besides its image, for the manifest. */
    code?: ManifestCode | undefined;
  };
  /** Removes what a job that created an archive left on the machine. */
  forget_archive: { made_by: string };
  /** Reads the archive's listing, touches nothing, and fails if the archive is not worth reading. */
  verify_archive: { archive: StoredArchive };
  /**
   * Builds the archive's data next to the old data while the ERP runs, and verifies the archive as it passes: it is read once.
   * Fails if the disk lacks space for what follows.
   */
  build_restore: OfBuild & { backup_first: boolean };
  /** Restores the archive next to everything else, checks it, and removes it again. */
  drill_archive: {
    archive: StoredArchive;
    edition: InstanceRecord["edition"];
    note: string | null;
    /** What the ERP had besides its image. Fails if that cannot be had any more. */
    code?: BroughtCode | undefined;
  };
  /** Restores an uploaded archive, of which only its checksum is known, next to everything else, and removes it again. */
  import_archive: { archive: UploadedArchive; erp_versions: readonly string[]; note: string | null };
  /** Removes what a drill or an import that was killed has left. */
  remove_drill: object;
  /** Stops the ERP, whose data is swapped next: the safety backup has everything written until then. */
  pause_erp: OfInstance & { restore_id: string };
  /** The old data stays, under the restore's id. The ERP starts, also one that was stopped. */
  swap_restore: OfInstance & { restore_id: string; restore_database: boolean; restore_filestore: boolean };
  /** Builds and swaps for an instance that nobody uses yet, and keeps none of the previous data. */
  restore_archive: OfBuild;
  /** Does nothing if there is nothing to put back. `start`: whether to start the ERP with the old data. */
  put_back: OfInstance & { restore_id: string; start: boolean };
  drop_old: OfInstance & { restore_id: string };
  /** Switches scheduled jobs, mail and payments off. */
  neutralize: OfInstance;
  /** Its own UUID, secret, URL and password. */
  personalize: OfInstance & {
    domain: string;
    admin_email: string;
    admin_password: string | undefined;
    /** Passwords, sessions and API keys of all other users stop working. */
    reset_users: boolean;
    /** It stays the same database to the ERP's vendor. */
    keep_uuid: boolean;
  };
  /** The old domain serves until the new one does. From then on exactly these redirect to it. */
  move_domain: OfInstance & { domain: string; redirects: InstanceRecord["previous_domains"] };
  verify_clone: OfInstance;
  /**
   * Gives an instance that nobody uses yet the same code as another one has or had: from there, if that is on this machine, or
   * else from the repositories.
   */
  bring_code: OfCode & { code: BroughtCode };
  /** Which commits the repositories' refs are now. */
  resolve_code: OfInstance & {
    repositories: readonly RepositoryAccess[];
    /** Holds the instance. If false, the job only reads, and other jobs may run beside it. */
    hold: boolean;
    /** Whether keys that hosts have shown before are forgotten first. */
    trust_new_host_keys?: boolean;
  };
  /**
   * Fetches exactly these commits, checks their modules, and says which have changed. Nothing of them is run. `named_modules`:
   * of these it says, too, whether they are installed. Without `keep` nothing stays on the machine, and other jobs on the
   * instance go on beside it.
   */
  fetch_code: OfCode & {
    repositories: readonly (RepositoryAccess & { commit: string })[];
    environment: readonly Variable[];
    named_modules: readonly string[];
    keep: boolean;
    /** A copy of the code that this machine may have. */
    from?: { instance_id: string; code_id: string } | undefined;
  };
  /**
   * The newest images of the same versions, or the named one of the ERP alone, for the steps after it. The ERP keeps its own
   * until its modules are updated.
   */
  pull_images: OfCode & { image: { id: string; digest: string | null } | undefined };
  /** Python packages for the fetched code. */
  install_packages: OfCode & { packages: readonly string[]; allow_source_builds: boolean };
  /** The update on a throwaway copy of the database. */
  rehearse_code: OfUpdate;
  /** Stops the ERP, and keeps its present data and code until the deploy is over. */
  keep_data: OfCode;
  /** Keeps the present data and code, unless that is done; switches to the fetched code, runs the update and starts the ERP. */
  update_modules: OfUpdate;
  /** Removes the data that was kept, and code that nobody needs any more. `restored`: a backup's data has replaced it. */
  settle_code: OfCode & { restored: boolean };
  /** Puts back the code and the data as they were. Does nothing if there is nothing to put back. */
  undo_code: OfCode & { start: boolean };
  /** Reboots the machine, and ends when the ERPs on it respond again, or could. */
  reboot_host: object;
  /** Installs the updates of the system's packages. */
  update_host: object;
  /** Gives the proxy its newest image. Puts the previous one back if it does not start with it. */
  update_proxy: object;
  /** The same of the ERP's database server, within its major version. */
  update_database: OfInstance;
  /** Puts back the image of an update that did not end. Does nothing if there is nothing to put back. */
  put_database_back: OfInstance;
}
export type JobKind = keyof JobInput;

/** The password that a job needs; it is stored until the job that uses it is done. */
export function requirePassword(password: string | undefined): string {
  if (password === undefined) throw new GiveUp("INTERNAL_ERROR", because("password_not_stored"));
  return password;
}

/** An ed25519 key, as a line without a comment: 51 bytes in base64. */
const HOST_KEY = /^ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}$/;

/** The result of each kind of job. */
export const JOB_RESULTS = {
  /** The public host key that was generated on the machine, one line; null if the machine keeps its key. */
  prepare_host: z.object({ host_key: z.string().regex(HOST_KEY).nullable() }),
  adopt_host_key: z.null(),
  retire_host: z.null(),
  install_erp: z.null(),
  remove_erp: z.null(),
  start_erp: z.null(),
  stop_erp: z.null(),
  restart_erp: z.null(),
  /**
   * Modules whose installation, upgrade or removal has begun and not ended, and those that the image lacks. Jobs that
   * were started by versions before 1.0.0 result in null.
   */
  check_health: z
    .object({ unfinished_modules: z.array(z.string()), modules: DifferingModules })
    .nullable()
    .transform((health) => health ?? { unfinished_modules: [], modules: null }),
  make_archive: MadeArchive,
  forget_archive: z.null(),
  verify_archive: z.null(),
  build_restore: Modules.nullable(),
  drill_archive: z.object({
    checks: z.array(DrillCheck.extend({ detail: z.string().transform((text) => text.slice(0, 500)) })).max(10),
  }),
  /** Reported by the archive, so only its format is trusted. */
  import_archive: z.object({
    erp_version: z.string().regex(/^\d{2}\.\d$/),
    edition: z.enum(EDITIONS),
    database_name: z.string().regex(/^[A-Za-z0-9_.-]{1,63}$/),
    missing_files: z.number().int().nonnegative(),
    listed_files: z.number().int().nonnegative().nullable().default(null),
    left_out: z.array(LeftOut).max(50).default([]),
    modules: DifferingModules,
  }),
  remove_drill: z.null(),
  pause_erp: z.null(),
  /** The time from when the ERP was stopped until it responded again; null if it was already stopped. */
  swap_restore: z.object({ downtime_seconds: z.number().int().nonnegative().nullable() }),
  restore_archive: Modules.nullable(),
  put_back: z.null(),
  /** Whether the data that stays is neutralized. */
  drop_old: z.object({ neutralized: z.boolean() }),
  neutralize: z.null(),
  personalize: z.null(),
  move_domain: z.null(),
  verify_clone: Verification,
  bring_code: z.null(),
  /** The commit of each repository, or a sentence that says why there is none. */
  resolve_code: z.object({
    commits: z
      .array(
        z.object({
          commit: Commit.nullable(),
          problem: z.string().nullable().default(null),
          /** SSH hosts only: the type of the key, and the key. */
          host_key: z
            .string()
            .regex(/^[a-z0-9@.-]{1,60} [A-Za-z0-9+/=]{20,2000}$/)
            .nullable()
            .default(null),
        }),
      )
      .max(CODE.repositoriesMax),
  }),
  fetch_code: z.object({
    /** The first line of each repository's commit message; null if it could not be fetched. */
    subjects: z.array(z.string().transform(toSubject).nullable()).max(CODE.repositoriesMax),
    problems: z
      .array(
        z.object({
          code: z.enum(["CODE_UNREACHABLE", "CODE_INVALID"]),
          repository: z.number().int().nonnegative(),
          module: ModuleName.nullable(),
          problem: z.string(),
        }),
      )
      .max(1000),
    /** `database_version`: that which the database has it in; null if it is not installed, or the script is an older one. */
    modules: z
      .array(
        z.object({
          name: ModuleName,
          version: z.string().max(100),
          changed: z.boolean(),
          database_version: z.string().max(100).nullable().catch(null),
          /** Which of the repositories it is from, by its index among those; null likewise. */
          repository: z.number().int().nonnegative().nullable().catch(null),
        }),
      )
      .max(5000),
    installed: z.array(ModuleName).max(6000),
    /** Installed modules that the present code has, and neither the new code nor the image; none of an older script. */
    missing: z.array(ModuleName).max(5000).nullable().catch([]),
    /** Whether the database was last updated with another image than the ERP has. */
    image_changed: z.boolean().catch(false),
    /** The ID of the ERP's current code, with which the modules were compared without `keep`; null likewise. */
    compared_with: z.string().max(60).nullable().catch(null),
  }),
  /** `changed`: whether the ERP or its database server gets another image. */
  pull_images: z.object({
    id: ImageId,
    created_at: z.coerce.date().transform((date) => date.toISOString()),
    previous_id: ImageId.nullable().catch(null),
    changed: z.boolean(),
    /** Modules of the named image; null for the newest. */
    modules: DifferingModules.catch(null),
  }),
  /** The packages in the versions that pip chose. */
  install_packages: z.object({ packages: z.array(z.string().max(200)).max(1000) }),
  rehearse_code: z.object({ duration_seconds: z.number().int().nonnegative() }),
  keep_data: z.null(),
  /**
   * The time from when the ERP was stopped until it responded again, null if it was already stopped; and the image that it has.
   */
  update_modules: z.object({
    downtime_seconds: z.number().int().nonnegative().nullable(),
    image: z.object({ id: ImageId, digest: ImageId.nullable() }).nullable().catch(null),
  }),
  /** Whether data that a backup brought is neutralized; null without any, and of a script from before it said so. */
  settle_code: z.object({ neutralized: z.boolean() }).nullable(),
  /** The same; null from a script that does not report it yet. */
  undo_code: z.object({ downtime_seconds: z.number().int().nonnegative().nullable() }).nullable(),
  /** The time from when the machine was told to reboot. */
  reboot_host: z.object({ downtime_seconds: z.number().int().nonnegative() }),
  update_host: z.null(),
  update_proxy: z.null(),
  /** Null if the ERP was not stopped for it. */
  update_database: z.object({ downtime_seconds: z.number().int().nonnegative().nullable() }),
  put_database_back: z.null(),
} as const satisfies Record<JobKind, z.ZodType>;
export type JobResult<K extends JobKind> = z.infer<(typeof JOB_RESULTS)[K]>;

interface Common<K extends JobKind> {
  id: string;
  kind: K;
  /** Jobs that this one undoes: they are ended first if they still run, and cannot start any more. */
  ends?: readonly string[];
}
export type Job<K extends JobKind = JobKind> = { [N in K]: Common<N> & JobInput[N] }[K];

/** Why a job is not ready yet, if that is known. */
export interface NotReady {
  ready: false;
  reason?: Reason | undefined;
}
export type JobProgress<K extends JobKind> = NotReady | { ready: true; result: JobResult<K> };

/** A server, as far as a host needs to know it. */
export type HostedServer = Pick<ServerRecord, "id" | "machine_id" | "ip_address" | "ssh_port" | "host_keys">;

export interface Probed {
  responded: boolean;
  /** What the machine says about itself; undefined if that took too long, or is nonsense. */
  report?: MachineReport | undefined;
  /** What its timer has measured, those that are sound. */
  samples?: readonly Sample[] | undefined;
  /** The line that its proxy should serve, if it is its own. */
  line?: StatusLine | undefined;
  /** It has taken its settings. */
  settingsTaken?: boolean;
}

/** What a machine learns between jobs. */
export interface MachineSettings {
  /** What each of its instances may use of the disk, in bytes; all others may use what there is. */
  quotas: ReadonlyMap<string, number>;
  /** Domains that it redirects no longer. */
  endedRedirects: ReadonlySet<string>;
}

/** What is read of an instance's logs. */
export interface LogRequest {
  instance_id: string;
  source: LogSource;
  /** The times are in UTC. */
  since?: string | undefined;
  until?: string | undefined;
}

export interface Host {
  /**
   * Throws GiveUp if the job failed (HOST_JOB_FAILED, BACKUP_CORRUPT, STORAGE_ERROR, TIMEOUT), TryAgain if the machine does not
   * respond, or is not the expected one (HOST_UNREACHABLE).
   */
  run: <K extends JobKind>(server: HostedServer, job: Job<K>) => Promise<JobProgress<K>>;
  /**
   * Logs in, to see whether the machine responds, and passes on its settings, if they have changed. It reports what its timer has
   * measured since a time, in seconds.
   */
  probe: (server: HostedServer, settings?: MachineSettings, since?: number) => Promise<Probed>;
  /** Whether something responds where the machine listens: a twentieth of a probe's CPU time, and no proof of who it is. */
  greets: (server: HostedServer) => Promise<boolean>;
  /** The machine's line about its ERPs, if it has one that is its own. It may be an old one. */
  statusLine: (server: HostedServer) => Promise<StatusLine | undefined>;
  /**
   * The end of a log, each line behind the time in UTC at which the machine got it; undefined if there is no ERP on the machine.
   * Throws TryAgain if the machine does not respond in time (HOST_UNREACHABLE).
   */
  readLog: (server: HostedServer, request: LogRequest) => Promise<string | undefined>;
  /**
   * What the jobs of an operation have logged so far, and of a megabyte and more the end; nothing as long as nobody can sign in.
   * Throws as `readLog` does.
   */
  readWorkLog: (server: HostedServer, operationId: string) => Promise<WorkLog>;
}
