// The sandbox's hosts: they hold real state in the table and do to it what a real host does to an ERP, in seconds.
import { createHash, randomUUID } from "node:crypto";
import type { ServerRecord } from "../data/records.ts";
import {
  beginSandboxJob,
  endSandboxJob,
  findSandboxErp,
  findSandboxMachine,
  removeSandboxErp,
  type SandboxContent,
  type SandboxErp,
  saveSandboxErp,
} from "../data/sandbox.ts";
import { sandboxTime } from "../runtime/env.ts";
import { GiveUp, TryAgain } from "../runtime/task-errors.ts";
import { putArchive, readArchive } from "../storage/archives.ts";
import type { ArchiveRef, ArchiveResult, ErpSpec, Host, Inspection, Job, JobResult, JobState } from "./host.ts";
import { packArchive, sha256Of, unpackArchive } from "./sandbox-archive.ts";

/** What each kind of job takes. A whole workflow stays within 5 seconds of its request. */
const SECONDS: Partial<Record<Job["kind"], number>> = { prepare: 0.5, install: 1, archive: 0.8, restore: 0.8 };

/** What a fresh database has, so that neutralizing one can be seen. */
const FRESH_CRONS = 4;
const FRESH_MAIL_SERVERS = 1;

const JOB_KEPT_HOURS = 48; // longer than any workflow may take

export const sandboxHost: Host = {
  run: async <J extends Job>(server: ServerRecord, jobId: string, job: J): Promise<JobState<J["kind"]>> => {
    const machineId = await reachable(server);
    const at = Date.now();
    const begun = await beginSandboxJob(
      machineId,
      jobId,
      at + sandboxTime(SECONDS[job.kind] ?? 0),
      at + JOB_KEPT_HOURS * 3_600_000,
    );
    if (begun.done) return { ready: true, result: begun.result as JobResult<J["kind"]> }; // as the job of this id left it
    if (at < begun.ready_at) return { ready: false };
    const result = (await perform(machineId, job)) as JobResult<J["kind"]>; // `perform` answers by kind
    await endSandboxJob(machineId, jobId, result);
    return { ready: true, result };
  },
  probe: async (server) =>
    !server.name.startsWith("goes-offline-") && (await findSandboxMachine(server.machine_id ?? "")) !== undefined,
};

async function reachable(server: ServerRecord): Promise<string> {
  const machine = server.machine_id === null ? undefined : await findSandboxMachine(server.machine_id);
  if (machine === undefined) throw new TryAgain("HOST_UNREACHABLE", "The server's machine does not answer");
  return machine.machine_id;
}

/** Each may run twice with the same outcome. */
async function perform(machineId: string, job: Job): Promise<JobResult<Job["kind"]>> {
  switch (job.kind) {
    case "prepare":
    case "verify":
      if (job.kind === "verify") await verified(job.archive);
      return null;
    case "install":
      await install(machineId, job.erp, job.admin_password, job.start);
      return null;
    case "remove":
      await removeSandboxErp(machineId, job.instance_id);
      return null;
    case "start":
    case "restart":
    case "stop":
      await change(machineId, job.instance_id, { running: job.kind !== "stop" });
      return null;
    case "health":
      if (job.leave === "running" && !(await erpOf(machineId, job.instance_id)).running)
        throw new GiveUp("HOST_JOB_FAILED", "The ERP does not answer");
      return null;
    case "archive":
      return archive(machineId, job);
    case "restore":
      await restore(machineId, job);
      return null;
    case "put_back":
      await putBack(machineId, job.instance_id, job.operation_id);
      return null;
    case "drop_old":
      await change(machineId, job.instance_id, { old: null });
      return null;
    case "neutralize":
      await changeContent(machineId, job.instance_id, NEUTRAL);
      return null;
    case "personalize":
      await personalize(machineId, job.erp, job.admin_password);
      return null;
    case "move_domain":
      await changeContent(machineId, job.instance_id, { base_url: `https://${job.domain}` });
      await change(machineId, job.instance_id, { domain: job.domain });
      return null;
    case "inspect":
      return inspect(await erpOf(machineId, job.instance_id));
    default:
      throw new Error(`No such job: ${JSON.stringify(job satisfies never)}`);
  }
}

const NEUTRAL = { is_neutralized: true, active_crons: 0, active_mail_servers: 0 };

async function install(machineId: string, erp: ErpSpec, password: string | undefined, start: boolean): Promise<void> {
  if (erp.domain.startsWith("fail-install."))
    throw new GiveUp("HOST_JOB_FAILED", "The installation of the ERP failed: odoo exited with code 1");
  if ((await findSandboxErp(machineId, erp.instance_id)) !== undefined) return;
  const { instance_id, domain, database_name, erp_version, admin_email } = erp;
  await saveSandboxErp({
    machine_id: machineId,
    instance_id,
    domain,
    database_name,
    erp_version,
    admin_email,
    admin_password_hash: hashed(password),
    running: start,
    content: {
      database_uuid: randomUUID(),
      base_url: `https://${domain}`,
      data: {},
      files: {},
      is_neutralized: false,
      active_crons: FRESH_CRONS,
      active_mail_servers: FRESH_MAIL_SERVERS,
    },
    old: null,
    restored_by: null,
    source_uuid: null,
  });
}

const hashed = (password = ""): string => createHash("sha256").update(password).digest("hex");

async function archive(machineId: string, { instance_id, key, note }: Extract<Job, { kind: "archive" }>): Promise<ArchiveResult> {
  if (note === "fail-upload") throw new GiveUp("STORAGE_ERROR", "The archive could not be uploaded");
  const bytes = packArchive(await erpOf(machineId, instance_id));
  const { size_bytes, checksum } = await putArchive(key, note === "corrupt" ? damaged(bytes) : bytes);
  return { size_bytes, sha256: sha256Of(bytes), stored_checksum: checksum };
}

/** Bits that rot in storage change nothing of the size. */
const damaged = (bytes: Uint8Array): Uint8Array => bytes.map((byte, place) => (place === bytes.length >> 1 ? byte ^ 0xff : byte));

/** The archive's content, if it is whole: nothing is touched before that is known. */
async function verified({ key, sha256, erp_version }: ArchiveRef): Promise<SandboxContent> {
  const bytes = await readArchive(key);
  if (bytes === undefined) throw new GiveUp("BACKUP_CORRUPT", "The backup's archive is missing in the storage");
  if (sha256Of(bytes) !== sha256)
    throw new GiveUp("BACKUP_CORRUPT", "The backup's archive does not have the checksum that it was stored with");
  return unpackArchive(bytes, erp_version);
}

async function restore(machineId: string, job: Extract<Job, { kind: "restore" }>): Promise<void> {
  const content = await verified(job.archive);
  const erp = await erpOf(machineId, job.instance_id);
  if (erp.restored_by === job.operation_id) return;
  const { files, ...database } = content;
  const restored = {
    ...erp.content,
    ...(job.database && { ...database, base_url: erp.content.base_url }),
    ...(job.filestore && { files }),
    ...(job.neutralize && NEUTRAL),
  };
  await saveSandboxErp({
    ...erp,
    content: restored,
    running: job.start,
    old: { operation_id: job.operation_id, content: erp.content, running: erp.running },
    restored_by: job.operation_id,
    source_uuid: content.database_uuid,
  });
}

/** An operation that replaced nothing has nothing to put back. */
async function putBack(machineId: string, instanceId: string, operationId: string): Promise<void> {
  const erp = await findSandboxErp(machineId, instanceId);
  if (erp?.old?.operation_id !== operationId) return;
  await saveSandboxErp({ ...erp, content: erp.old.content, running: erp.old.running, old: null, restored_by: null });
}

async function personalize(machineId: string, erp: ErpSpec, password: string | undefined): Promise<void> {
  const present = await erpOf(machineId, erp.instance_id);
  const own = present.content.database_uuid !== present.source_uuid;
  await saveSandboxErp({
    ...present,
    admin_email: erp.admin_email,
    ...(password !== undefined && { admin_password_hash: hashed(password) }),
    running: true,
    old: null,
    content: {
      ...present.content,
      base_url: `https://${erp.domain}`,
      database_uuid: own ? present.content.database_uuid : randomUUID(),
    },
  });
}

const inspect = ({ content, source_uuid }: SandboxErp): Inspection => ({
  is_neutralized: content.is_neutralized,
  active_crons: content.active_crons,
  active_mail_servers: content.active_mail_servers,
  new_database_uuid: content.database_uuid !== source_uuid,
  base_url: content.base_url,
});

async function erpOf(machineId: string, instanceId: string): Promise<SandboxErp> {
  const erp = await findSandboxErp(machineId, instanceId);
  if (erp === undefined) throw new GiveUp("HOST_JOB_FAILED", "The ERP is not installed on the server");
  return erp;
}

const change = async (machineId: string, instanceId: string, fields: Partial<SandboxErp>): Promise<void> =>
  saveSandboxErp({ ...(await erpOf(machineId, instanceId)), ...fields });

async function changeContent(machineId: string, instanceId: string, fields: Partial<SandboxContent>): Promise<void> {
  const erp = await erpOf(machineId, instanceId);
  await saveSandboxErp({ ...erp, content: { ...erp.content, ...fields } });
}
