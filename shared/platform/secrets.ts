// The service's own keys, from Secrets Manager: the current version and the one before, so that a key can be rotated
// by storing a new value.
import { createHash } from "node:crypto";
import { GetSecretValueCommand, ResourceNotFoundException, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { CALLS } from "./aws-calls.ts";
import { variable } from "./env.ts";

interface KeyVersion {
  /** Identifies the version in what was created with it: a JWT's `kid`, the head of an encrypted text. */
  id: string;
  /** 32 bytes. */
  key: Uint8Array<ArrayBuffer>;
}

interface KeyVersions {
  current: KeyVersion;
  previous: KeyVersion | undefined;
}

type KeyVariable = "SESSION_KEY" | "SEALING_KEY" | "HOSTS_KEY";

let client: SecretsManagerClient | undefined;
const cached = new Map<KeyVariable, { versions: Promise<KeyVersions>; readAt: number }>();

/** How long a rotated key may still be used to create new things. */
export const KEY_CACHE_SECONDS = 300;
/** An unknown version is fetched again, but invented versions must not be a way to call Secrets Manager at will. */
const REFRESH_SECONDS = 5;

export const keyVersions = (name: KeyVariable): Promise<KeyVersions> => versionsNotOlderThan(name, KEY_CACHE_SECONDS);

/** The key of a version; undefined if it is neither the current nor the one before. */
export async function keyOfVersion(name: KeyVariable, id: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  for (const age of [KEY_CACHE_SECONDS, REFRESH_SECONDS]) {
    const { current, previous } = await versionsNotOlderThan(name, age);
    const match = [current, previous].find((version) => version?.id === id);
    if (match !== undefined) return match.key;
  }
  return undefined;
}

function versionsNotOlderThan(name: KeyVariable, seconds: number): Promise<KeyVersions> {
  const cachedSecret = cached.get(name);
  if (cachedSecret !== undefined && Date.now() - cachedSecret.readAt < seconds * 1000) return cachedSecret.versions;
  const versions = fetchVersions(variable(name));
  cached.set(name, { versions, readAt: Date.now() });
  versions.catch(() => cached.delete(name)); // the next request fetches again; this one reports the error to its caller
  return versions;
}

async function fetchVersions(arn: string): Promise<KeyVersions> {
  const [current, previous] = await Promise.all([fetchStage(arn, "AWSCURRENT"), fetchStage(arn, "AWSPREVIOUS")]);
  if (current === undefined) throw new Error(`The secret ${arn} has no value`);
  return { current, previous };
}

/** The key that a secret's value stands for. */
export const keyFrom = (value: string): Uint8Array<ArrayBuffer> => new Uint8Array(createHash("sha256").update(value).digest());

async function fetchStage(arn: string, VersionStage: string): Promise<KeyVersion | undefined> {
  client ??= new SecretsManagerClient(CALLS);
  try {
    const { SecretString = "", VersionId = "" } = await client.send(new GetSecretValueCommand({ SecretId: arn, VersionStage }));
    return { id: VersionId, key: keyFrom(SecretString) };
  } catch (error) {
    if (VersionStage === "AWSPREVIOUS" && error instanceof ResourceNotFoundException) return undefined; // never rotated yet
    throw error;
  }
}
