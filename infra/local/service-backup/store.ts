// Stores backups of the service itself in a folder, or under a prefix of an S3 bucket. Each backup is a few files with the same
// beginning.
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  fchmodSync,
  fsyncSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { copyFile, mkdir, rename } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type * as SdkModule from "@aws-sdk/client-s3";
import { syncFolder } from "../durable.ts";
import { LocalError } from "../errors.ts";
import { storeFrom } from "../operator.ts";
import { MINUTE_MS } from "../../../shared/domain/durations.ts";

export interface BackupStore {
  /** All names, `/` between their parts. */
  names(): Promise<string[]>;
  /** Complete under its name, or absent. */
  put(name: string, file: string): Promise<void>;
  get(name: string, file: string): Promise<void>;
  /** Succeeds if there is none of that name. */
  remove(name: string): Promise<void>;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** @throws LocalError if `text` is neither a folder nor `s3://BUCKET/PREFIX`. */
export function parseStoreLocation(text: string): { bucket: string; prefix: string } | { root: string } {
  if (!text.includes("://")) return { root: resolve(text) };
  const [, bucket, prefix = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]+)(?:\/(.*?))?\/*$/.exec(text) ?? [];
  if (bucket === undefined) throw new LocalError(`${text} is neither a folder nor s3://BUCKET/PREFIX`);
  return { bucket, prefix: prefix === "" ? "" : `${prefix}/` };
}

export async function openBackupStore(text: string, variables: Variables): Promise<BackupStore> {
  const location = parseStoreLocation(text);
  return "root" in location ? folder(location.root) : inBucket(location.bucket, location.prefix, variables);
}

function folder(root: string): BackupStore {
  const path = (name: string): string => join(root, ...name.split("/"));
  return {
    async names() {
      if (!existsSync(root)) return [];
      const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      return entries.map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, "/"));
    },
    async put(name, file) {
      const target = path(name);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await copyFile(file, `${target}.new`);
      const written = openSync(`${target}.new`, "r+");
      fchmodSync(written, 0o600);
      fsyncSync(written);
      closeSync(written);
      await rename(`${target}.new`, target);
      syncFolder(dirname(target));
    },
    get: (name, file) => copyFile(path(name), file),
    async remove(name) {
      rmSync(path(name), { force: true });
      const parent = dirname(path(name));
      if (parent !== root && existsSync(parent) && readdirSync(parent).length === 0) rmSync(parent, { recursive: true });
    },
  };
}

/** A large file takes long, but no pause in it may: a store that has gone silent ends the backup. */
const WAITS = { connectionTimeout: 10_000, socketTimeout: MINUTE_MS };

async function inBucket(Bucket: string, prefix: string, variables: Variables): Promise<BackupStore> {
  const sdk = await import("@aws-sdk/client-s3");
  const s3 = createClient(sdk, variables);
  const at = (name: string) => ({ Bucket, Key: `${prefix}${name}` });
  return {
    async names() {
      const names: string[] = [];
      for await (const { Contents = [] } of sdk.paginateListObjectsV2({ client: s3 }, { Bucket, Prefix: prefix }))
        names.push(...Contents.flatMap(({ Key }) => (Key === undefined ? [] : [Key.slice(prefix.length)])));
      return names;
    },
    async put(name, file) {
      const ContentLength = statSync(file).size;
      await s3.send(new sdk.PutObjectCommand({ ...at(name), Body: createReadStream(file), ContentLength }));
    },
    async get(name, file) {
      const { Body } = await s3.send(new sdk.GetObjectCommand(at(name)));
      if (!(Body instanceof Readable)) throw new LocalError(`The store has no content for ${name}`);
      await pipeline(Body, createWriteStream(file, { mode: 0o600 }));
    },
    async remove(name) {
      await s3.send(new sdk.DeleteObjectCommand(at(name)));
    },
  };
}

/** Uses the keys of the operator's own store if it is set, else the AWS credentials of the shell. */
function createClient(sdk: typeof SdkModule, variables: Variables): SdkModule.S3Client {
  const bounded = { requestHandler: WAITS };
  const store = storeFrom(variables);
  if (store === undefined) return new sdk.S3Client(bounded);
  return new sdk.S3Client({
    ...bounded,
    endpoint: store["BACKUP_S3_ENDPOINT"] ?? "",
    region: store["BACKUP_S3_REGION"] ?? "",
    forcePathStyle: true,
    credentials: {
      accessKeyId: store["BACKUP_S3_ACCESS_KEY_ID"] ?? "",
      secretAccessKey: store["BACKUP_S3_SECRET_ACCESS_KEY"] ?? "",
    },
  });
}
