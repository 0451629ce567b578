// The parameters of each kind of job on the machine, and how long it may take there.
import { JOB_MINUTES } from "../domain/job-minutes.ts";
import { because } from "../domain/reasons.ts";
import { HOUR_SECONDS } from "../domain/durations.ts";
import { configuration } from "../platform/configuration.ts";
import { statusKeys } from "../platform/service-key.ts";
import { GiveUp } from "../platform/task-errors.ts";
import { presignedArchive } from "../storage/presign.ts";
import { type BroughtCode, type HostedServer, type Job, type JobKind, requirePassword, type UploadedArchive } from "./host.ts";
import type { StoredArchive } from "../storage/stored-archive.ts";
import type { JobParameters } from "./ssh-script.ts";

/** A minute less than the workflows wait, so that the machine itself reports what took too long. */
export const limitMinutes = (kind: JobKind): number => JOB_MINUTES[kind] - 1;

/** The URL of an archive is used when the job starts, and again if its download is interrupted. */
const ARCHIVE_SECONDS = 4 * HOUR_SECONDS;

/** A job that is one script with parameters. */
type PlainJob = Exclude<Job, Job<"check_health" | "make_archive" | "forget_archive">>;

/** Contains passwords, keys and presigned URLs: nothing of it may be logged or stored. */
export const buildParameters = async (server: HostedServer, job: PlainJob): Promise<JobParameters> => ({
  ...(await ownParameters(server, job)),
  ...(await statusParameters(server)),
});

/**
 * What the machine's timer signs its lines with: also a machine that was prepared before there was one gets it with its next job.
 */
export async function statusParameters({ id }: HostedServer): Promise<JobParameters> {
  const [{ key, name }] = await statusKeys(id);
  return { STATUS_SERVER: id, STATUS_KEY: key.toString("hex"), STATUS_NAME: name };
}

async function ownParameters(server: HostedServer, job: PlainJob): Promise<JobParameters> {
  switch (job.kind) {
    case "prepare_host":
      return prepareHost(server, job);
    case "retire_host":
      return { SERVER_ID: server.id };
    case "adopt_host_key":
    case "remove_drill":
    case "reboot_host":
    case "update_host":
    case "update_proxy":
      return {};
    case "install_erp":
      return installErp(job);
    case "start_erp":
    case "restart_erp":
    case "put_database_back":
      return { INSTANCE_ID: job.instance_id, ...(await network()) };
    case "update_database":
      return { INSTANCE_ID: job.instance_id, ...(await network()), ...(await postgresImage()) };
    case "remove_erp":
    case "stop_erp":
    case "neutralize":
    case "verify_clone":
      return { INSTANCE_ID: job.instance_id };
    case "verify_archive":
      return archived(job.archive);
    case "build_restore":
      return { ...(await buildRestore(job)), BACKUP_FIRST: yesOrNo(job.backup_first) };
    case "drill_archive":
      return drillArchive(job);
    case "import_archive":
      return importArchive(job);
    case "pause_erp":
      return { INSTANCE_ID: job.instance_id, RESTORE_ID: job.restore_id };
    case "swap_restore":
      return { ...restored(job), KEEP_OLD: "yes", START: "yes" };
    case "restore_archive":
      return { ...(await buildRestore(job)), KEEP_OLD: "no", START: "no" };
    case "put_back":
      return { INSTANCE_ID: job.instance_id, RESTORE_ID: job.restore_id, START: yesOrNo(job.start) };
    case "drop_old":
      return { INSTANCE_ID: job.instance_id, RESTORE_ID: job.restore_id };
    case "personalize":
      return {
        INSTANCE_ID: job.instance_id,
        DOMAIN: job.domain,
        ADMIN_EMAIL: job.admin_email,
        ADMIN_PASSWORD: requirePassword(job.admin_password),
        RESET_USERS: yesOrNo(job.reset_users),
        KEEP_UUID: yesOrNo(job.keep_uuid),
      };
    case "move_domain":
      return { INSTANCE_ID: job.instance_id, DOMAIN: job.domain, REDIRECTS: redirectWords(job.redirects) };
    default:
      return codeParameters(job);
  }
}

/** The jobs of deploys. Credentials and secrets travel with the one that fetches, and no other. */
type CodeJob = Extract<PlainJob, { code_id: string }> | Job<"resolve_code">;

async function codeParameters(job: CodeJob): Promise<JobParameters> {
  switch (job.kind) {
    case "bring_code":
      return { INSTANCE_ID: job.instance_id, CODE_ID: job.code_id, ...brought(job.code), ...(await network()) };
    case "resolve_code":
      return {
        INSTANCE_ID: job.instance_id,
        REPOSITORIES: JSON.stringify(job.repositories),
        HOLD: yesOrNo(job.hold),
        TRUST: yesOrNo(job.trust_new_host_keys ?? false),
        ...(await network()),
      };
    case "fetch_code":
      return {
        INSTANCE_ID: job.instance_id,
        CODE_ID: job.code_id,
        REPOSITORIES: JSON.stringify(job.repositories),
        ENVIRONMENT: JSON.stringify(job.environment),
        NAMED: job.named_modules.join(" "),
        KEEP: yesOrNo(job.keep),
        HOLD: yesOrNo(job.keep),
        FROM_INSTANCE: job.from?.instance_id ?? "",
        FROM_CODE: job.from?.code_id ?? "",
        ...(await network()),
      };
    case "pull_images":
      return {
        INSTANCE_ID: job.instance_id,
        CODE_ID: job.code_id,
        IMAGE: job.image?.id ?? "",
        DIGEST: job.image?.digest ?? "",
        ...(await postgresImage()),
      };
    case "install_packages":
      return {
        INSTANCE_ID: job.instance_id,
        CODE_ID: job.code_id,
        PACKAGES: job.packages.join("\n"),
        SOURCE_BUILDS: yesOrNo(job.allow_source_builds),
        ...(await network()),
      };
    case "rehearse_code":
    case "update_modules":
      return {
        INSTANCE_ID: job.instance_id,
        CODE_ID: job.code_id,
        UPDATE: job.update.join(","),
        INSTALL: job.install.join(","),
        ...(await network()),
      };
    case "keep_data":
      return { INSTANCE_ID: job.instance_id, CODE_ID: job.code_id };
    case "settle_code":
      return { INSTANCE_ID: job.instance_id, CODE_ID: job.code_id, RESTORED: yesOrNo(job.restored) };
    case "undo_code":
      return { INSTANCE_ID: job.instance_id, CODE_ID: job.code_id, START: yesOrNo(job.start), ...(await network()) };
    default:
      return job satisfies never;
  }
}

const brought = ({ repositories, packages, allow_source_builds, environment, from }: BroughtCode): JobParameters => ({
  REPOSITORIES: JSON.stringify(repositories),
  ENVIRONMENT: JSON.stringify(environment),
  PACKAGES: packages.join("\n"),
  SOURCE_BUILDS: yesOrNo(allow_source_builds),
  FROM_INSTANCE: from?.instance_id ?? "",
  FROM_CODE: from?.code_id ?? "",
});

async function prepareHost(server: HostedServer, { ssh_keys }: Job<"prepare_host">): Promise<JobParameters> {
  const { tls, acme_email, byo, postgres_image } = await configuration();
  const machine = byo?.machines.find(({ address }) => address === server.ip_address);
  return {
    SERVER_ID: server.id,
    SSH_KEYS: ssh_keys.join("\n"),
    TLS: tls,
    ACME_EMAIL: acme_email ?? "",
    POSTGRES_IMAGE: postgres_image,
    FIREWALL: yesOrNo(machine?.firewall ?? true),
    ...(await network()),
  };
}

async function installErp({ instance, database, admin_password, start }: Job<"install_erp">): Promise<JobParameters> {
  return {
    INSTANCE_ID: instance.id,
    ...(await postgresImage()),
    ERP_VERSION: instance.erp_version,
    EDITION: instance.edition,
    ENTERPRISE_URL: instance.edition === "enterprise" ? await enterpriseUrl(instance.erp_version) : "",
    DATABASE_NAME: instance.database_name,
    DOMAIN: instance.domain,
    ADMIN_EMAIL: instance.admin_email,
    ADMIN_PASSWORD: database === "fresh" ? requirePassword(admin_password) : "",
    DATABASE: database,
    START: yesOrNo(start),
    ...(await network()),
  };
}

const drillArchive = async ({ archive, code, edition }: Job<"drill_archive">): Promise<JobParameters> => ({
  ...(await archived(archive)),
  ...(await postgresImage()),
  ...(code !== undefined && { ...brought(code), ...(await network()) }),
  EDITION: edition,
  ENTERPRISE_URL: edition === "enterprise" ? await enterpriseUrl(archive.erp_version) : "",
});

/** Each domain, and when it ends in seconds since 1970. */
const redirectWords = (redirects: Job<"move_domain">["redirects"]): string =>
  redirects.map(({ domain, redirects_until }) => `${domain} ${Math.ceil(Date.parse(redirects_until) / 1000)}`).join(" ");

const importArchive = async ({ archive, erp_versions }: Job<"import_archive">): Promise<JobParameters> => ({
  ...(await uploaded(archive)),
  ...(await postgresImage()),
  ERP_VERSIONS: erp_versions.join(" "),
  ENTERPRISE_URL: (await configuration()).enterprise_source ?? "", // of whichever version it turns out to be
});

const network = async (): Promise<JobParameters> => ({ OPEN_NETWORKS: (await configuration()).open_networks.join(" ") });
const postgresImage = async (): Promise<JobParameters> => ({ POSTGRES_IMAGE: (await configuration()).postgres_image });

async function enterpriseUrl(version: string): Promise<string> {
  const { enterprise_source } = await configuration();
  if (enterprise_source === undefined) throw new GiveUp("HOST_JOB_FAILED", because("enterprise_not_configured"));
  return enterprise_source.replaceAll("{version}", version);
}

const buildRestore = async (job: Job<"build_restore" | "restore_archive">): Promise<JobParameters> => ({
  ...restored(job),
  ...(await archived(job.archive)),
  NEUTRALIZE: yesOrNo(job.neutralize),
});

const restored = (job: Job<"build_restore" | "swap_restore" | "restore_archive">): JobParameters => ({
  INSTANCE_ID: job.instance_id,
  RESTORE_ID: job.restore_id,
  RESTORE_DATABASE: yesOrNo(job.restore_database),
  RESTORE_FILESTORE: yesOrNo(job.restore_filestore),
});

const archived = async ({ erp_version, missing_files, ...archive }: StoredArchive): Promise<JobParameters> => ({
  ...(await uploaded(archive)),
  ERP_VERSION: erp_version,
  MISSING_FILES: missing_files === undefined ? "" : String(missing_files),
});

const uploaded = async ({ key, size_bytes, sha256 }: UploadedArchive): Promise<JobParameters> => ({
  URL: await presignedArchive(key, ARCHIVE_SECONDS),
  SIZE_BYTES: String(size_bytes),
  SHA256: sha256,
});

/** Kinds of jobs that may pull images. */
const PULLING: ReadonlySet<JobKind> = new Set<JobKind>([
  "prepare_host",
  "install_erp",
  "start_erp",
  "restart_erp",
  "verify_archive",
  "build_restore",
  "swap_restore",
  "restore_archive",
  "put_back",
  "pull_images",
  "update_modules",
  "undo_code",
  "drill_archive",
  "import_archive",
  "update_proxy",
  "update_database",
  "put_database_back",
]);

/** Credentials are for the machine's Docker alone, and only as long as the job runs. */
export async function registryParameters(kind: JobKind): Promise<JobParameters> {
  if (!PULLING.has(kind)) return {}; // functions whose jobs pull nothing may not read the configuration
  const { registry } = await configuration();
  if (registry === undefined) return {};
  const { mirror = "", username = "", password = "" } = registry;
  return { REGISTRY_MIRROR: mirror, REGISTRY_USERNAME: username, REGISTRY_PASSWORD: password };
}

const yesOrNo = (flag: boolean): string => (flag ? "yes" : "no");
