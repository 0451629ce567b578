// What the sandbox's simulated provider and machines hold: the only module that reads and writes it.
import { createHash } from "node:crypto";
import * as z from "zod";
import * as fields from "../../api/fields.ts";
import { type Key, keys, type Item } from "../../data/keys.ts";
import { find, putIfAbsent, queryAll, removeOne, transact, updateOne } from "../../data/table.ts";
import { update, type Write } from "../../data/writes.ts";
import { FIRST_IMAGE } from "./images.ts";
import { DAY_SECONDS } from "../../domain/durations.ts";
import { ttlAfter } from "../../data/ttl.ts";

/** Simulated time: how many seconds one of the sandbox's takes. 0 in tests. */
function timeScale(): number {
  const scale = Number(process.env["SANDBOX_TIME_SCALE"] ?? "1");
  if (!(scale >= 0 && scale < Infinity)) throw new Error("SANDBOX_TIME_SCALE must be a number, 0 or greater");
  return scale;
}

/** The moment that comes so many simulated seconds from now; nothing ever sleeps until then. */
export const later = (seconds: number): string => new Date(Date.now() + seconds * timeScale() * 1000).toISOString();
export const isReached = (moment: string): boolean => Date.parse(moment) <= Date.now();

const SandboxMachine = z.object({
  machine_id: z.string(),
  operation_id: z.string(),
  server_id: z.string(),
  account_id: z.string(),
  name: z.string(),
  region: z.string(),
  size: z.string(),
  ip_address: z.string(),
  running_at: fields.timestamp,
  prepared: z.boolean(),
  /** Does not respond any more. */
  offline: z.boolean(),
  created_at: fields.timestamp,
  /** What its instances may use of the disk, in bytes. */
  quotas: z.record(z.string(), z.number()).default({}),
  /** Whether it was rebooted since its creation. */
  rebooted: z.boolean().default(false),
});
export type SandboxMachine = z.infer<typeof SandboxMachine>;

/** Keeps the machine that an earlier try created. */
export const addMachine = async (machine: Omit<SandboxMachine, "quotas" | "rebooted">): Promise<void> =>
  void (await putIfAbsent(keys.sandboxMachine(machine.machine_id), machine));

export const findMachine = (machineId: string): Promise<SandboxMachine | undefined> =>
  find({ key: keys.sandboxMachine(machineId), schema: SandboxMachine });

export async function listMachines(): Promise<SandboxMachine[]> {
  const items = await queryAll(keys.sandboxMachines(), { consistent: true });
  return items.map((item) => SandboxMachine.parse(item));
}

export async function setMachine(
  machineId: string,
  set: Partial<Pick<SandboxMachine, "prepared" | "offline" | "quotas" | "rebooted">>,
): Promise<void> {
  await updateOne(keys.sandboxMachine(machineId), { set }, {});
}

/** Removes a machine with everything on it; the machine itself goes last, so that an interrupted deletion can continue. */
export async function removeMachine(machineId: string): Promise<void> {
  for (const partition of [keys.sandboxErp(machineId, "").pk, keys.sandboxJob(machineId, "").pk])
    for (const item of await queryAll(partition, { consistent: true }))
      await removeOne({ pk: partition, sk: String(item["sk"]) });
  await removeOne(keys.sandboxMachine(machineId));
}

const Rejections = z.object({ count: z.number() });

/** How often a request for this machine has failed, including this time. */
export async function countRejection(machineId: string): Promise<number> {
  const key = keys.sandboxJob(machineId, "refusals");
  const { item } = await updateOne(key, { add: { count: 1 }, set: { ttl: ttlOfJob() } }, { exists: false });
  return Rejections.parse(item).count;
}

const SandboxJob = z.object({ kind: z.string(), ready_at: fields.timestamp, done: z.boolean(), answer: z.string().optional() });
export type SandboxJob = z.infer<typeof SandboxJob>;

/** Longer than any operation takes. */
const JOB_DAYS = 2;
const ttlOfJob = (): number => ttlAfter(JOB_DAYS * DAY_SECONDS);

/** The job as it was started, now or before. */
export async function beginJob(machineId: string, jobId: string, kind: string, readyAt: string): Promise<SandboxJob> {
  const key = keys.sandboxJob(machineId, jobId);
  const existing = await find({ key, schema: SandboxJob });
  if (existing !== undefined) return existing;
  const job: SandboxJob = { kind, ready_at: readyAt, done: false };
  await putIfAbsent(key, { ...job, ttl: ttlOfJob() });
  return job;
}

/** The jobs of an operation, the oldest first. */
export async function listJobs(machineId: string, operationId: string): Promise<SandboxJob[]> {
  const items = await queryAll(keys.sandboxJob(machineId, "").pk, { beginsWith: `${operationId}-`, consistent: true });
  return items.map((item) => SandboxJob.parse(item)).toSorted((one, other) => (one.ready_at < other.ready_at ? -1 : 1));
}

export async function finishJob(machineId: string, jobId: string, answer: unknown): Promise<void> {
  await updateOne(keys.sandboxJob(machineId, jobId), { set: { done: true, answer: JSON.stringify(answer) } }, {});
}

/** The users of the ERP besides its administrator. An empty hash lets nobody in. */
const ErpUser = z.object({ login: z.string(), password_hash: z.string(), api_keys: z.array(z.string()) });

const Switch = z.object({ name: z.string(), active: z.boolean() });

/** The contents of an ERP's database: everything in a dump. */
export const ErpDatabase = z.object({
  uuid: z.string(),
  secret: z.string(),
  base_url: z.string(),
  neutralized: z.boolean(),
  crons: z.array(Switch),
  mail_servers: z.array(Switch),
  admin_login: z.string(),
  admin_password_hash: z.string(),
  users: z.array(ErpUser).default([]),
  /** What people wrote in the ERP, as JSON: DynamoDB's numbers are not JavaScript's. */
  data: z.string(),
  attachments: z.array(z.object({ name: z.string(), file: z.string() })),
  /** The versions of its installed modules, by name. */
  modules: z.record(z.string(), z.string()).default({}),
  /** The image that it was last updated with; null if that is not known. */
  updated_with: z.string().nullable().default(null),
});
export type ErpDatabase = z.infer<typeof ErpDatabase>;

/** Text by path below the filestore; a path is the SHA-1 of the text, behind its first two digits. */
export const ErpFiles = z.record(z.string(), z.string());
export type ErpFiles = z.infer<typeof ErpFiles>;

const Contents = z.object({ database: ErpDatabase.nullable(), files: ErpFiles });

/** Modules from repositories, with their versions, and the refs that they are from. */
const SandboxCode = z.object({ code_id: z.string(), modules: z.record(z.string(), z.string()), refs: z.array(z.string()) });

const SandboxErp = Contents.extend({
  status: z.enum(["running", "stopped"]),
  erp_version: z.string(),
  edition: z.enum(["community", "enterprise"]),
  database_name: z.string(),
  domain: z.string(),
  /** What a restore has put aside, until it is dropped or put back. */
  replaced: Contents.extend({ restore_id: z.string() }).nullable(),
  /** What a restore has built next to it, until it is swapped or rolled back. */
  built: Contents.extend({ restore_id: z.string() }).nullable().default(null),
  /** The id of its image, and of the one that a deploy has pulled. */
  image: z.string().default(FIRST_IMAGE.id),
  pulled: z.object({ code_id: z.string(), image: z.string() }).nullable().default(null),
  /** The code that it runs with, and the code that a deploy has fetched. */
  code: SandboxCode.nullable().default(null),
  fetched: SandboxCode.nullable().default(null),
  /** What a deploy has put aside, until it is settled or put back. */
  before_code: Contents.extend({
    code_id: z.string(),
    code: SandboxCode.nullable(),
    image: z.string().default(FIRST_IMAGE.id),
    was_running: z.boolean(),
  })
    .nullable()
    .default(null),
  /** The uuid that the database had in the archive it comes from. */
  archived_uuid: z.string().nullable(),
  /** Whether it was started again since its creation. */
  restarted: z.boolean().default(false),
  /** The time when it was last started, for its log; null for those that an earlier version started. */
  started_at: fields.timestamp.nullable().default(null),
  /** Counts writes, so that none overtakes another unseen. */
  revision: z.number().int(),
});
export type SandboxErp = z.infer<typeof SandboxErp>;
type ErpState = Omit<SandboxErp, "revision">;

export const findErp = (machineId: string, instanceId: string): Promise<SandboxErp | undefined> =>
  find({ key: keys.sandboxErp(machineId, instanceId), schema: SandboxErp });

/** All ERPs on a machine, by the instance's ID. */
export async function listErps(machineId: string): Promise<Map<string, SandboxErp>> {
  const items = await queryAll(keys.sandboxErp(machineId, "").pk, { consistent: true });
  return new Map(items.map((item) => [String(item["sk"]), SandboxErp.parse(item)]));
}

/** Leaves the ERP alone that an earlier try installed. */
export const addErp = async (machineId: string, instanceId: string, erp: ErpState): Promise<void> =>
  void (await putIfAbsent(keys.sandboxErp(machineId, instanceId), { ...erp, revision: 0 }));

const WRITE_TRIES = 5;

/** Changes an ERP as it is at that moment; false if it is not there. */
export async function changeErp(
  machineId: string,
  instanceId: string,
  change: (erp: SandboxErp) => Partial<ErpState>,
  /** What else must hold at the moment of the write. */
  guard?: Write,
): Promise<boolean> {
  for (let attempt = 1; attempt <= WRITE_TRIES; attempt++) {
    const erp = await findErp(machineId, instanceId);
    if (erp === undefined) return false;
    const set: Item = { ...change(erp), revision: erp.revision + 1 };
    if (await written(keys.sandboxErp(machineId, instanceId), set, erp.revision, guard)) return true;
  }
  throw new Error(`Too many writes to the sandbox ERP ${instanceId} at the same time`);
}

/** False if another write came first. */
async function written(key: Key, set: Item, revision: number, guard: Write | undefined): Promise<boolean> {
  const where = { equals: { revision } };
  if (guard === undefined) return (await updateOne(key, { set }, where)).done;
  const overtaken = new Error("Another write came first");
  try {
    await transact([guard, update(key, { set }, where, () => overtaken)]);
    return true;
  } catch (error) {
    if (error === overtaken) return false;
    throw error;
  }
}

export const removeErp = (machineId: string, instanceId: string): Promise<void> =>
  removeOne(keys.sandboxErp(machineId, instanceId));

type SandboxData = Record<string, unknown>;
const SandboxDataText = z.record(z.string(), z.unknown());

/** What people wrote in an ERP. */
export const readSandboxData = ({ data }: ErpDatabase): SandboxData => SandboxDataText.parse(JSON.parse(data));

/** Replaces it, with the attachments that such an ERP would have; false if the machine has no such ERP. */
export async function writeSandboxData(
  { machineId, instanceId }: { machineId: string; instanceId: string },
  data: SandboxData,
  /** Throws if the current value must not be replaced. */
  allow: (erp: SandboxErp, database: ErpDatabase) => void,
  /** What must still hold when it is written. */
  guard: Write,
): Promise<boolean> {
  let hasDatabase = false;
  const change = (erp: SandboxErp): Partial<ErpState> => {
    const { database } = erp;
    hasDatabase = database !== null;
    if (database === null) return {};
    allow(erp, database);
    const { attachments, files } = buildAttachments(data);
    return { database: { ...database, data: JSON.stringify(data), attachments }, files };
  };
  await changeErp(machineId, instanceId, change, guard);
  return hasDatabase;
}

/** A file for the company's logo, and one for each thing that people wrote: the filestore is never empty. */
export function buildAttachments(data: SandboxData): Pick<ErpDatabase, "attachments"> & { files: ErpFiles } {
  const texts = [
    ["logo.svg", LOGO] as const,
    ...Object.entries(data).map(([name, value]) => [name, JSON.stringify(value)] as const),
  ];
  const stored = texts.map(([name, text]) => ({ name, text, file: hashFileName(text) }));
  return {
    attachments: stored.map(({ name, file }) => ({ name, file })),
    files: Object.fromEntries(stored.map(({ file, text }) => [file, text])),
  };
}
const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1H0z"/></svg>';

export function hashFileName(text: string): string {
  const digest = createHash("sha1").update(text).digest("hex");
  return `${digest.slice(0, 2)}/${digest}`;
}
