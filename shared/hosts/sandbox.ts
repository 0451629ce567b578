// The sandbox's hosts: they hold real state in the table and do to it what a real host does to an ERP, in seconds.
import { createHash, randomUUID } from "node:crypto";
import type { ServerRecord } from "../data/records.ts";
import {
  addErp,
  attachmentsOf,
  beginJob,
  changeErp,
  type ErpDatabase,
  findErp,
  findMachine,
  finishJob,
  isReached,
  later,
  removeErp,
  type SandboxErp,
} from "../data/sandbox.ts";
import { GiveUp, TryAgain } from "../runtime/task-errors.ts";
import { putArchive, readArchive } from "../storage/archives.ts";
import type { ArchiveRef, ErpSpec, Host, Job, JobResults } from "./host.ts";
import { type Contents, packArchive, sha256Of, unpackArchive } from "./sandbox-archive.ts";

/** What each kind of job takes; a whole workflow stays within 5 seconds of its request. */
const SECONDS: Partial<Record<Job["kind"], number>> = { prepare: 0.5, install: 0.9, archive: 0.7, restore: 0.7 };

type JobOf<K extends Job["kind"]> = Extract<Job, { kind: K }>;

export const sandboxHost: Host = {
  run: async (server, jobId, job) => {
    const machineId = await reachable(server);
    const begun = await beginJob(machineId, jobId, job.kind, later(SECONDS[job.kind] ?? 0));
    if (!begun.done && !isReached(begun.ready_at)) return undefined;
    if (begun.done) return JSON.parse(begun.answer ?? "null"); // as the job of this id left it
    const answer = await WORK[job.kind](machineId, job as never); // each kind of job has its own; the key says which
    await finishJob(machineId, jobId, answer);
    return answer;
  },
  probe: async (server) => !server.name.startsWith("goes-offline-") && (await machineOf(server)) !== undefined,
};

const machineOf = (server: ServerRecord) => (server.machine_id === null ? undefined : findMachine(server.machine_id));

async function reachable(server: ServerRecord): Promise<string> {
  const machine = await machineOf(server);
  if (machine === undefined) throw new TryAgain("HOST_UNREACHABLE", "The server's machine does not answer");
  return machine.machine_id;
}

/** What each kind of job does; each may be done twice with the same outcome. */
const WORK: { [K in Job["kind"]]: (machineId: string, job: JobOf<K>) => Promise<JobResults[K]> } = {
  prepare: async () => null,
  install: async (machineId, { erp, admin_password, start }) => {
    if (erp.domain.startsWith("fail-install."))
      throw new GiveUp("HOST_JOB_FAILED", "The installation of the ERP failed: odoo exited with code 1");
    await addErp(machineId, erp.instance_id, {
      status: start ? "running" : "stopped",
      erp_version: erp.erp_version,
      edition: erp.edition,
      database_name: erp.database_name,
      domain: erp.domain,
      ...freshContents(erp, admin_password),
      replaced: null,
      archived_uuid: null,
    });
    return null;
  },
  remove: async (machineId, { instance_id }) => {
    await removeErp(machineId, instance_id);
    return null;
  },
  start: (machineId, { instance_id }) => change(machineId, instance_id, () => ({ status: "running" })),
  restart: (machineId, { instance_id }) => change(machineId, instance_id, () => ({ status: "running" })),
  stop: (machineId, { instance_id }) => change(machineId, instance_id, () => ({ status: "stopped" })),
  health: async (machineId, { instance_id }) => {
    if ((await erpOf(machineId, instance_id)).status !== "running")
      throw new GiveUp("HOST_JOB_FAILED", "The ERP does not answer");
    return null;
  },
  archive: async (machineId, { instance_id, key, note }) => {
    if (note === "fail-upload") throw new GiveUp("STORAGE_ERROR", "The archive could not be uploaded");
    const erp = await erpOf(machineId, instance_id);
    const bytes = packArchive(contentsOf(erp), erp);
    const stored = await putArchive(key, note === "corrupt" ? damaged(bytes) : bytes);
    return { size_bytes: bytes.length, sha256: sha256Of(bytes), stored_checksum: stored.checksum };
  },
  verify: async (_, { archive }) => {
    await verified(archive);
    return null;
  },
  restore: async (machineId, job) => {
    const contents = await verified(job.archive);
    return change(machineId, job.instance_id, (erp) => restored(erp, contents, job));
  },
  put_back: async (machineId, { instance_id, restore_id }) => {
    // What was never installed, or never replaced, has nothing to put back.
    await changeErp(machineId, instance_id, ({ replaced }) =>
      replaced?.restore_id === restore_id ? { database: replaced.database, files: replaced.files, replaced: null } : {},
    );
    return null;
  },
  drop_old: (machineId, { instance_id }) => change(machineId, instance_id, () => ({ replaced: null })),
  neutralize: (machineId, { instance_id }) =>
    change(machineId, instance_id, ({ database }) => ({ database: database && neutralized(database) })),
  personalize: (machineId, { erp, admin_password }) =>
    change(machineId, erp.instance_id, ({ database, archived_uuid }) => ({
      status: "running",
      replaced: null,
      database: database && {
        ...database,
        base_url: `https://${erp.domain}`,
        admin_login: erp.admin_email,
        ...(admin_password !== undefined && { admin_password_hash: hashed(admin_password) }),
        ...(database.uuid === archived_uuid && { uuid: randomUUID(), secret: randomUUID() }),
      },
    })),
  move_domain: (machineId, { instance_id, domain }) =>
    change(machineId, instance_id, ({ database }) => ({
      domain,
      database: database && { ...database, base_url: `https://${domain}` },
    })),
  inspect: async (machineId, { instance_id }) => {
    const erp = await erpOf(machineId, instance_id);
    const { database } = contentsOf(erp);
    return {
      is_neutralized: database.neutralized,
      active_crons: database.crons.filter(({ active }) => active).length,
      active_mail_servers: database.mail_servers.filter(({ active }) => active).length,
      new_database_uuid: database.uuid !== erp.archived_uuid,
      base_url: database.base_url,
    };
  },
};

function freshContents(erp: ErpSpec, password: string | undefined): Contents {
  const { attachments, files } = attachmentsOf({});
  const active = (name: string) => ({ name, active: true });
  return {
    files,
    database: {
      uuid: randomUUID(),
      secret: randomUUID(),
      base_url: `https://${erp.domain}`,
      neutralized: false,
      crons: ["Base: Auto-vacuum internal data", "Mail: send queued messages", "Partner: autocomplete"].map(active),
      mail_servers: ["Outgoing mail"].map(active),
      admin_login: erp.admin_email,
      admin_password_hash: hashed(password ?? randomUUID()),
      data: "{}",
      attachments,
    },
  };
}

const hashed = (password: string): string => createHash("sha256").update(password).digest("hex");

const neutralized = (database: ErpDatabase): ErpDatabase => ({
  ...database,
  neutralized: true,
  crons: database.crons.map((cron) => ({ ...cron, active: false })),
  mail_servers: database.mail_servers.map((server) => ({ ...server, active: false })),
});

/** A byte that rots in storage changes nothing of the size. */
const damaged = (bytes: Uint8Array): Uint8Array => bytes.map((byte, place) => (place === bytes.length >> 1 ? byte ^ 0xff : byte));

/** What is in an archive, if it is the one that was made: nothing is touched before that is known. */
async function verified({ key, sha256, erp_version }: ArchiveRef): Promise<Contents> {
  const bytes = await readArchive(key);
  if (bytes === undefined) throw new GiveUp("BACKUP_CORRUPT", "The backup's archive is missing in the storage");
  if (sha256Of(bytes) !== sha256)
    throw new GiveUp("BACKUP_CORRUPT", "The backup's archive does not have the checksum that was recorded when it was made");
  return unpackArchive(bytes, erp_version);
}

/** The archive's data in the place of the present, which are kept until they are dropped or put back. */
function restored(erp: SandboxErp, contents: Contents, job: JobOf<"restore">): Partial<SandboxErp> {
  if (erp.replaced?.restore_id === job.restore_id) return {};
  const base_url = erp.database?.base_url ?? contents.database.base_url;
  const database = job.database ? { ...contents.database, base_url } : erp.database;
  return {
    database: database && job.neutralize ? neutralized(database) : database,
    files: job.filestore ? contents.files : erp.files,
    replaced: { restore_id: job.restore_id, database: erp.database, files: erp.files },
    archived_uuid: contents.database.uuid,
    ...(job.start && { status: "running" as const }),
  };
}

async function erpOf(machineId: string, instanceId: string): Promise<SandboxErp> {
  const erp = await findErp(machineId, instanceId);
  if (erp === undefined) throw notInstalled();
  return erp;
}

function contentsOf({ database, files }: SandboxErp): Contents {
  if (database === null) throw new GiveUp("HOST_JOB_FAILED", "The ERP has no database");
  return { database, files };
}

async function change(machineId: string, instanceId: string, how: (erp: SandboxErp) => Partial<SandboxErp>): Promise<null> {
  if (!(await changeErp(machineId, instanceId, how))) throw notInstalled();
  return null;
}

const notInstalled = () => new GiveUp("HOST_JOB_FAILED", "The ERP is not installed on the server");
