// Backups of the service itself on one machine: its table as of one moment, its secrets sealed by a passphrase, and the records
// of the local store's objects. The archives are not in them: on one machine they belong into a store of their own
// (docs/live.md).
import { createHash, randomBytes } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip, gunzipSync } from "node:zlib";
import * as z from "zod";
import { DAY_MS } from "../../../shared/domain/durations.ts";
import { parseJson } from "../../../shared/domain/json.ts";
import { callDynamoDb, type Database, startDynamoDb } from "../dynamodb/dynamodb.ts";
import { LocalError } from "../errors.ts";
import { lockDirectory } from "../lock.ts";
import { seal, unseal } from "../../passphrase.ts";
import { openSecrets } from "../secrets/secrets.ts";
import { endInterrupted } from "./interrupted.ts";
import type { BackupStore } from "./store.ts";

const TABLE_FILE = join("dynamodb", "shared-local-instance.db");
/** Keys and credentials. The port is in presigned URLs that clients still have. */
const SEALED_FILES = ["access.json", "aws-port", "demo.json", "local-secret", "secrets.json"];
/** Without these a service would begin with other keys. */
const REQUIRED_FILES = ["access.json", "local-secret", "secrets.json"];

const TABLE = "table.sqlite.gz";
const OBJECTS = "objects.json.gz";
const SECRETS = "secrets.jwe";
/** Written last: a backup without it was interrupted. */
const MANIFEST = "manifest.json";

const Manifest = z.object({
  format: z.literal(1),
  created_at: z.iso.datetime(),
  environment: z.string(),
  /** The number of items in the service's table. */
  items: z.int(),
  /** The number of objects in the local store. */
  objects: z.int(),
  bytes: z.int(),
});
export type ServiceBackup = z.infer<typeof Manifest> & { name: string };

/** What the passphrase seals. The digests make the sealed part vouch for the other two files. */
const Sealed = z.object({
  files: z.record(z.string(), z.string()),
  sha256: z.object({ [TABLE]: z.string(), [OBJECTS]: z.string() }),
});

const ObjectRecords = z.record(z.string().regex(/^[a-z0-9.-]+\/(objects|uploads)\/[\w-]+\.json$/), z.string());

/** Complete backups, newest first. */
export async function listBackups(store: BackupStore): Promise<ServiceBackup[]> {
  const folder = await mkdtemp(join(tmpdir(), "service-backups-"));
  try {
    const names = (await store.names()).flatMap((name) => /^(service-[\w-]+)\/manifest\.json$/.exec(name)?.[1] ?? []);
    const read = names.map(async (name) => {
      const file = join(folder, name);
      await store.get(`${name}/${MANIFEST}`, file);
      const manifest = Manifest.safeParse(parseJson(readFileSync(file, "utf8")));
      return manifest.success ? [{ name, ...manifest.data }] : [];
    });
    return (await Promise.all(read)).flat().toSorted((a, b) => b.created_at.localeCompare(a.created_at));
  } finally {
    await rm(folder, { recursive: true });
  }
}

export const ageOf = ({ created_at }: ServiceBackup): number => Date.now() - Date.parse(created_at);

interface Taking {
  dataDir: string;
  store: BackupStore;
  passphrase: Uint8Array;
  /** How many backups stay, the new one included. */
  keep: number;
}

/** Takes a backup, also while the service runs, tries whether it can be restored, and then removes those beyond `keep`. */
export async function backUpService({ dataDir, store, passphrase, keep }: Taking): Promise<ServiceBackup> {
  const work = join(dataDir, WORK);
  const release = lockDirectory(work);
  const folder = await mkdtemp(join(work, "backup-"));
  try {
    const at = new Date().toISOString();
    const name = `service-${at.replaceAll(/[:.]/g, "-")}-${randomBytes(3).toString("hex")}`;
    const files = sealedFiles(dataDir);
    const { TABLE_NAME, ENVIRONMENT } = Access.parse(parseJson(files["access.json"] ?? ""));
    // The records first: an archive that comes between the two is then one that the table does not know.
    const objects = objectRecords(dataDir);
    writeFileSync(join(folder, "objects"), JSON.stringify(objects));
    const items = await copyTable(join(dataDir, TABLE_FILE), join(folder, "table"), TABLE_NAME);
    await pipeline(createReadStream(join(folder, "table")), createGzip(), createWriteStream(join(folder, TABLE)));
    await pipeline(createReadStream(join(folder, "objects")), createGzip(), createWriteStream(join(folder, OBJECTS)));
    const sha256 = { [TABLE]: await computeDigest(join(folder, TABLE)), [OBJECTS]: await computeDigest(join(folder, OBJECTS)) };
    writeFileSync(join(folder, SECRETS), await seal(JSON.stringify({ files, sha256 }), passphrase));
    const bytes = (await Promise.all([TABLE, OBJECTS, SECRETS].map((file) => stat(join(folder, file))))).reduce(
      (sum, { size }) => sum + size,
      0,
    );
    const manifest = {
      format: 1,
      created_at: at,
      environment: ENVIRONMENT,
      items,
      objects: countObjects(objects),
      bytes,
    } as const;
    writeFileSync(join(folder, MANIFEST), JSON.stringify(manifest));
    for (const file of [TABLE, OBJECTS, SECRETS]) await store.put(`${name}/${file}`, join(folder, file));
    await drill(join(folder, "drill"), { store, name, passphrase });
    await store.put(`${name}/${MANIFEST}`, join(folder, MANIFEST));
    await removeOld(store, keep);
    return { name, ...manifest };
  } finally {
    await removeAll(work);
    release();
  }
}

/**
 * The folder is its own, with mode 0700 like all of the data: for a moment the keys are in it in clear. What a crash leaves
 * there, the next backup removes.
 */
const WORK = "service-backup";

async function removeAll(work: string): Promise<void> {
  for (const name of readdirSync(work)) if (name.startsWith("backup-")) await rm(join(work, name), { recursive: true });
}

const Access = z.object({ TABLE_NAME: z.string(), ENVIRONMENT: z.string() });

function sealedFiles(dataDir: string): Record<string, string> {
  const missing = REQUIRED_FILES.find((name) => !existsSync(join(dataDir, name)));
  if (missing !== undefined) throw new LocalError(`${join(dataDir, missing)} is missing: ${dataDir} has no service's data`);
  const existing = SEALED_FILES.filter((name) => existsSync(join(dataDir, name)));
  return Object.fromEntries(existing.map((name) => [name, readFileSync(join(dataDir, name), "utf8")]));
}

function objectRecords(dataDir: string): Record<string, string> {
  const root = join(dataDir, "s3");
  if (!existsSync(root)) return {};
  const names = readdirSync(root).flatMap((bucket) =>
    ["objects", "uploads"].flatMap((kind) =>
      readdirSync(join(root, bucket, kind))
        .filter((file) => file.endsWith(".json"))
        .map((file) => `${bucket}/${kind}/${file}`),
    ),
  );
  // One may have been deleted meanwhile.
  return Object.fromEntries(
    names.flatMap((name) => (existsSync(join(root, name)) ? [[name, readFileSync(join(root, name), "utf8")]] : [])),
  );
}

const countObjects = (records: Record<string, string>): number =>
  Object.keys(records).filter((name) => name.includes("/objects/")).length;

/** SQLite copies the pages of one moment while the service goes on writing. Returns how many items the service's table has. */
async function copyTable(from: string, to: string, tableName: string): Promise<number> {
  if (!existsSync(from)) throw new LocalError(`${from} is missing: there is no table to back up`);
  const source = new DatabaseSync(from, { readOnly: true, timeout: 10_000 });
  try {
    // All pages in one step: between steps each write of the service would make SQLite begin again.
    await backup(source, to, { rate: 2 ** 31 - 1 });
  } finally {
    source.close();
  }
  const copy = new DatabaseSync(to);
  try {
    const checked = Object.values(copy.prepare("PRAGMA integrity_check").get() ?? {});
    if (checked[0] !== "ok") throw new LocalError(`The table in ${from} is damaged: ${String(checked[0])}`);
    copy.exec("PRAGMA journal_mode = DELETE");
    const counted = copy.prepare(`SELECT count(*) AS items FROM "${tableName}"`).get();
    return z.object({ items: z.number() }).parse(counted).items;
  } finally {
    copy.close();
  }
}

async function computeDigest(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

interface Restoring {
  store: BackupStore;
  name: string;
  passphrase: Uint8Array;
}

interface Restored {
  /** Objects of the local store, whose content is not in the backup. */
  objects: number;
  /** The operations that were in progress. */
  interrupted: string[];
}

/** Restores a backup to a folder that is empty or does not exist yet; all of it or nothing. */
export async function restoreService({ dataDir: requested, ...from }: Restoring & { dataDir: string }): Promise<Restored> {
  const dataDir = resolve(requested);
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0)
    throw new LocalError(`${dataDir} is not empty: choose another folder with --data DIR`);
  mkdirSync(dirname(dataDir), { recursive: true });
  const draft = await mkdtemp(join(dirname(dataDir), `.${basename(dataDir)}-`));
  try {
    const { objects, names } = await restoreTo(draft, from);
    const interrupted = await endInterrupted(draft, names);
    if (existsSync(dataDir)) rmdirSync(dataDir);
    await rename(draft, dataDir);
    return { objects, interrupted };
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

/** @throws LocalError if a file is damaged, replaced, or of another backup. */
async function restoreTo(
  folder: string,
  { store, name, passphrase }: Restoring,
): Promise<{ objects: number; names: z.infer<typeof Access> }> {
  const fetched = async (file: string): Promise<string> => {
    const path = join(folder, file);
    await store.get(`${name}/${file}`, path).catch((cause: unknown) => {
      throw new LocalError(`${name}/${file} cannot be read: ${String(cause)}`, { cause });
    });
    return path;
  };
  const sealed = await unseal(readFileSync(await fetched(SECRETS), "utf8"), passphrase, "the backup");
  const { files, sha256 } = Sealed.parse(JSON.parse(sealed));
  for (const file of [TABLE, OBJECTS] as const)
    if ((await computeDigest(await fetched(file))) !== sha256[file])
      throw new LocalError(`${name}/${file} is damaged, or not the one that was backed up`);
  mkdirSync(join(folder, dirname(TABLE_FILE)), { mode: 0o700 });
  await pipeline(
    createReadStream(join(folder, TABLE)),
    createGunzip(),
    createWriteStream(join(folder, TABLE_FILE), { mode: 0o600 }),
  );
  const objects = ObjectRecords.parse(JSON.parse(gunzipSync(readFileSync(join(folder, OBJECTS))).toString()));
  for (const [file, text] of Object.entries(objects)) {
    mkdirSync(join(folder, "s3", dirname(file)), { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, "s3", file), text, { mode: 0o600 });
  }
  for (const file of SEALED_FILES.filter((each) => files[each] !== undefined))
    writeFileSync(join(folder, file), files[file] ?? "", { mode: 0o600 });
  for (const file of [TABLE, OBJECTS, SECRETS]) await rm(join(folder, file));
  return { objects: countObjects(objects), names: Access.parse(parseJson(files["access.json"] ?? "")) };
}

/** Restores what the place has to a folder, and reads all of its table through a database that starts there. */
async function drill(folder: string, from: Restoring): Promise<void> {
  mkdirSync(folder);
  const { names } = await restoreTo(folder, from);
  openSecrets({ file: join(folder, "secrets.json") });
  const database = await startDynamoDb({ dataDir: join(folder, dirname(TABLE_FILE)), accessKeyId: "drill" });
  try {
    await readItems(database, names.TABLE_NAME);
  } finally {
    await database.stop();
  }
}

const Page = z.looseObject({ LastEvaluatedKey: z.unknown().optional() });

async function readItems(database: Database, TableName: string): Promise<void> {
  let ExclusiveStartKey: unknown;
  do {
    const { status, body } = await callDynamoDb(database, "Scan", { TableName, ExclusiveStartKey });
    if (status !== 200) throw new LocalError(`The restored table cannot be read: ${JSON.stringify(body)}`);
    ExclusiveStartKey = Page.parse(body).LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
}

/** Those beyond `keep`, and what interrupted ones left a day ago: a younger one may still be written. */
async function removeOld(store: BackupStore, keep: number): Promise<void> {
  const complete = (await listBackups(store)).map(({ name }) => name);
  const oldNames = new Set(complete.slice(keep));
  const newest = new Set(complete.slice(0, keep));
  for (const path of await store.names()) {
    const [name = "", file = ""] = path.split("/");
    const isOld = Date.parse(timeIn(name)) < Date.now() - DAY_MS;
    if (OWN_FILES.includes(file) && !newest.has(name) && (oldNames.has(name) || isOld)) await store.remove(path);
  }
}

const OWN_FILES = [MANIFEST, TABLE, OBJECTS, SECRETS];

/** The time in a backup's name. */
const timeIn = (name: string): string =>
  name.replace(/^service-(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3})Z-.*$/, "$1:$2:$3.$4Z");
