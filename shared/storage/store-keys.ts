// The keys of another store, from the secret that the operator of a deployment fills in (docs/deploy.md, "Another store for
// archives").
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import * as z from "zod";
import { unavailable } from "../api/errors.ts";
import { CALLS } from "../platform/aws-calls.ts";
import { variable } from "../platform/env.ts";

const Keys = z.strictObject({ access_key_id: z.string().min(1), secret_access_key: z.string().min(1) });

interface StoreKeys {
  accessKeyId: string;
  secretAccessKey: string;
  /** When the SDK asks for them again. */
  expiration: Date;
}

/** How long keys may be used after the operator has stored others. */
const CACHE_SECONDS = 60;

let client: SecretsManagerClient | undefined;
let cached: { keys: Promise<StoreKeys>; until: number } | undefined;

export function storeKeys(): Promise<StoreKeys> {
  if (cached !== undefined && Date.now() < cached.until) return cached.keys;
  const until = Date.now() + CACHE_SECONDS * 1000;
  const keys = read(new Date(until));
  cached = { keys, until };
  keys.catch(() => (cached = undefined)); // the next call fetches again; this one reports the error to its caller
  return keys;
}

/**
 * Until the operator corrects the secret, requests get 503 and tasks wait. The value is not repeated: it may be a key in the
 * wrong place.
 */
async function read(expiration: Date): Promise<StoreKeys> {
  client ??= new SecretsManagerClient(CALLS);
  const { SecretString = "" } = await client.send(new GetSecretValueCommand({ SecretId: variable("BACKUP_S3_SECRET") }));
  const { success, data } = Keys.safeParse(jsonIn(SecretString));
  if (!success) throw unavailable(new Error("The secret `StoreKeys` must have access_key_id and secret_access_key"));
  return { accessKeyId: data.access_key_id, secretAccessKey: data.secret_access_key, expiration };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the parser's message would quote the text
  }
}
