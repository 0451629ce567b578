// The store for archives of backups: the deployment's own bucket, or another S3-compatible store that the operator has named.
import { variable } from "../platform/env.ts";
import { storeKeys } from "./store-keys.ts";

interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

interface Store {
  bucket: string;
  region: string;
  /** Path style, so that a storage on this machine needs no DNS names. */
  endpoint: URL;
  credentials: Credentials | (() => Promise<Credentials>);
}

export function store(): Store {
  const { BACKUP_S3_ENDPOINT, BACKUP_S3_SECRET, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = process.env;
  const bucket = variable("BACKUP_BUCKET");
  if (BACKUP_S3_ENDPOINT !== undefined)
    return {
      bucket,
      region: variable("BACKUP_S3_REGION"),
      endpoint: new URL(BACKUP_S3_ENDPOINT),
      credentials: BACKUP_S3_SECRET === undefined ? keysInVariables() : storeKeys,
    };
  const region = variable("AWS_REGION");
  return {
    bucket,
    region,
    endpoint: new URL(AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL ?? `https://s3.${region}.amazonaws.com`),
    credentials: functionCredentials(),
  };
}

const keysInVariables = (): Credentials => ({
  accessKeyId: variable("BACKUP_S3_ACCESS_KEY_ID"),
  secretAccessKey: variable("BACKUP_S3_SECRET_ACCESS_KEY"),
});

function functionCredentials(): Credentials {
  const sessionToken = process.env["AWS_SESSION_TOKEN"];
  return {
    accessKeyId: variable("AWS_ACCESS_KEY_ID"),
    secretAccessKey: variable("AWS_SECRET_ACCESS_KEY"),
    ...(sessionToken !== undefined && sessionToken !== "" && { sessionToken }),
  };
}
