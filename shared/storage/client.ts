// The S3 client of the tasks, and how its errors map to theirs.
import { S3Client } from "@aws-sdk/client-s3";
import { ARCHIVE_CALLS } from "../platform/aws-calls.ts";
import { GiveUp, isPassing, TryAgain } from "../platform/task-errors.ts";
import { store } from "./store.ts";

let client: S3Client | undefined;

/** The tasks that use it may take minutes. */
export function s3(): S3Client {
  if (client !== undefined) return client;
  const { region, endpoint, credentials } = store();
  client = new S3Client({
    region,
    endpoint: endpoint.href,
    credentials,
    forcePathStyle: true,
    ...ARCHIVE_CALLS,
  });
  return client;
}

export const at = (key: string) => ({ Bucket: store().bucket, Key: key });

export async function mapErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw isPassing(cause)
      ? new TryAgain("STORAGE_ERROR", "The backup storage was unavailable for too long", { cause })
      : new GiveUp("STORAGE_ERROR", "The backup storage rejected the archive", { cause });
  }
}
