// A secret that the operator of a deployment fills in, and may change at any time.
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { CALLS } from "./aws-calls.ts";
import { variable } from "./env.ts";

/** How long a value may be used after the operator has set another. */
const CACHE_SECONDS = 60;

let client: SecretsManagerClient | undefined;

/**
 * Returns a function that reads the secret which a variable names, and keeps its value for a minute. `parse` gets the text and
 * when it is read again. Its error is that of the caller, and the next call reads the secret again.
 */
export function createSecretReader<T>(
  name: "PROVIDERS_SECRET" | "BACKUP_S3_SECRET",
  parse: (text: string, expiration: Date) => T,
): () => Promise<T> {
  let cached: { value: Promise<T>; expiration: Date } | undefined;
  const read = async (expiration: Date): Promise<T> => {
    client ??= new SecretsManagerClient(CALLS);
    const { SecretString = "" } = await client.send(new GetSecretValueCommand({ SecretId: variable(name) }));
    return parse(SecretString, expiration);
  };
  return () => {
    if (cached !== undefined && Date.now() < cached.expiration.getTime()) return cached.value;
    const expiration = new Date(Date.now() + CACHE_SECONDS * 1000);
    const value = read(expiration);
    cached = { value, expiration };
    value.catch(() => (cached = undefined));
    return value;
  };
}
