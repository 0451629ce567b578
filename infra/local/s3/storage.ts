// The local S3: the operations that the service uses, on files; in-process, because packages from the registries store damaged
// objects. aws.ts has checked the caller and its permissions before anything here runs.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AwsFault } from "../errors.ts";
import * as disk from "./bucket.ts";
import type { Bucket } from "./bucket.ts";
import type { Handler, S3Response } from "./handler.ts";
import { objectHandlers } from "./objects.ts";
import type { OperationName, S3Operation } from "./operation.ts";
import { uploadHandlers } from "./uploads.ts";

export interface Storage {
  createBucket(name: string): Promise<void>;
  /** `payloadHash` is the caller's signed value: a hex SHA-256, UNSIGNED-PAYLOAD or STREAMING-… */
  handle(operation: S3Operation, body: AsyncIterable<Buffer>, payloadHash: string): Promise<S3Response>;
  stop(): Promise<void>;
}

const handlers: Record<OperationName, Handler> = { ...objectHandlers, ...uploadHandlers };

/** Without `dir` the objects are in a temporary folder, which `stop` removes. */
export async function openStorage({ dir }: { dir?: string | undefined }): Promise<Storage> {
  const root = dir ?? (await mkdtemp(join(tmpdir(), "local-s3-")));
  const buckets = new Map<string, Bucket>();
  return {
    async createBucket(name) {
      if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name))
        throw new AwsFault("InvalidBucketName", `${name} cannot be a bucket's name`);
      if (!buckets.has(name)) buckets.set(name, await disk.openBucket(join(root, name), dir !== undefined));
    },
    async handle(operation, body, payloadHash) {
      const bucket = buckets.get(operation.bucket);
      if (bucket === undefined) throw new AwsFault("NoSuchBucket", "The specified bucket does not exist", 404);
      return handlers[operation.name](bucket, operation, body, payloadHash);
    },
    async stop() {
      if (dir === undefined) await rm(root, { recursive: true, force: true });
    },
  };
}
