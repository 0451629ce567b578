// The SSH keys of the service, all derived from one secret: nothing is stored, and a retry gets the same.
import { hkdfSync } from "node:crypto";
import { keyFrom, keyVersions } from "./secrets.ts";
import { type KeyPair, createKeyPair } from "./key-pair.ts";

const SEED_BYTES = 32;

/** The key with which the service signs in to machines. */
export async function serviceKey(): Promise<KeyPair> {
  const { current } = await keyVersions("HOSTS_KEY");
  return servicePair(current.key);
}

/** The current key and, after a rotation, the previous one, which machines know until they have the new one. */
export async function serviceKeys(): Promise<KeyPair[]> {
  const { current, previous } = await keyVersions("HOSTS_KEY");
  return [current, ...(previous === undefined ? [] : [previous])].map(({ key }) => servicePair(key));
}

/**
 * The host key that a machine is created with, so that even the first connection to it can be trusted; and, after a rotation, the
 * one that it has if it was created before.
 */
export async function oneTimeHostKeys(operationId: string): Promise<[KeyPair, ...KeyPair[]]> {
  const { current, previous } = await keyVersions("HOSTS_KEY");
  const of = ({ key }: typeof current) => derived(key, `one-time host key of ${operationId}`, operationId);
  return previous === undefined ? [of(current)] : [of(current), of(previous)];
}

/** The key with which a server's machine signs the line about its ERPs, and the secret name under which its proxy serves it. */
export interface StatusKey {
  key: Buffer;
  name: string;
}

/** The key has as many bytes as a block of the hash. */
const STATUS_KEY_BYTES = 64;
const STATUS_NAME_BYTES = 16;

/** The current one and, after a rotation, the previous one, which a machine has until its next job. */
export async function statusKeys(serverId: string): Promise<[StatusKey, ...StatusKey[]]> {
  const { current, previous } = await keyVersions("HOSTS_KEY");
  const of = ({ key }: typeof current): StatusKey => {
    const bytes = Buffer.from(hkdfSync("sha256", key, "", `status of ${serverId}`, STATUS_KEY_BYTES + STATUS_NAME_BYTES));
    return { key: bytes.subarray(0, STATUS_KEY_BYTES), name: bytes.subarray(STATUS_KEY_BYTES).toString("hex") };
  };
  return previous === undefined ? [of(current)] : [of(current), of(previous)];
}

/** The key that the service would sign in with if this were the secret's value. */
export const serviceKeyFrom = (value: string): KeyPair => servicePair(keyFrom(value));

const servicePair = (secret: Uint8Array): KeyPair => derived(secret, "service key", "erp-hosting");

const derived = (secret: Uint8Array, purpose: string, comment: string): KeyPair =>
  createKeyPair(new Uint8Array(hkdfSync("sha256", secret, "", purpose, SEED_BYTES)), comment);
