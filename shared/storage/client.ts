// The S3 client of the tasks, and how its errors map to theirs.
import { ARCHIVE_CALLS } from "../platform/aws-calls.ts";
import { GiveUp, isPassing, TryAgain } from "../platform/task-errors.ts";
import type * as SdkModule from "./sdk.ts";
import { store } from "./store.ts";
import { because } from "../domain/reasons.ts";

type Sdk = typeof SdkModule;

let client: SdkModule.S3Client | undefined;

/**
 * Calls S3, with the errors of a task. Its client is loaded on demand: it is a quarter of what a task would load at its start,
 * and most tasks touch no archive. The tasks that do may take minutes.
 */
export async function withS3<T>(call: (s3: SdkModule.S3Client, sdk: Sdk) => Promise<T>): Promise<T> {
  const sdk = await import("./sdk.ts");
  const { region, endpoint, credentials } = store();
  client ??= new sdk.S3Client({ region, endpoint: endpoint.href, credentials, forcePathStyle: true, ...ARCHIVE_CALLS });
  try {
    return await call(client, sdk);
  } catch (cause) {
    throw isPassing(cause)
      ? new TryAgain("STORAGE_ERROR", because("storage_unavailable"), { cause })
      : new GiveUp("STORAGE_ERROR", because("storage_rejected"), { cause });
  }
}

export const objectAt = (key: string) => ({ Bucket: store().bucket, Key: key });
