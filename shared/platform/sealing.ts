// Encryption for what must not be stored in plain text, and keyed hashes for what need not be stored at all.
import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { isCanonical } from "../domain/base64url.ts";
import { keyOfVersion, keyVersions } from "./secrets.ts";

const IV_BYTES = 12; // GCM's standard length
const TAG_BYTES = 16;

/** AES-256-GCM. The context (what the text belongs to) is authenticated, so that a sealed text cannot be moved elsewhere. */
export async function seal(text: string, context: string): Promise<string> {
  const { current } = await keyVersions("SEALING_KEY");
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", current.key, iv).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `${current.id}.${sealed.toString("base64url")}`;
}

/** Throws if the text was changed, moved to another context, or sealed with a key that is no longer kept. */
export async function unseal(sealed: string, context: string): Promise<string> {
  const [id = "", body = ""] = sealed.split(".");
  const key = await keyOfVersion("SEALING_KEY", id);
  if (key === undefined) throw new Error("Encrypted with a key that is no longer stored");
  const bytes = Buffer.from(body, "base64url");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString("utf8");
}

/** The same for a text that a client presents: undefined unless it was sealed for this context, and its key is still kept. */
export async function unsealPresented(presented: string, context: string): Promise<string | undefined> {
  const [id = "", body = "", ...rest] = presented.split(".");
  if (rest.length > 0 || !isCanonical(body)) return undefined;
  if ((await keyOfVersion("SEALING_KEY", id)) === undefined) return undefined;
  return unseal(presented, context).catch(() => undefined); // its key was found: what fails now is the text
}

/** A hash that reveals nothing to anyone who reads the table, not even whether a guess is right. */
export async function keyedHash(text: string): Promise<string> {
  const { current } = await keyVersions("SEALING_KEY");
  return `${current.id}.${mac(current.key, text)}`;
}

export async function matchesKeyedHash(hash: string, text: string): Promise<boolean> {
  const [id = "", digest = ""] = hash.split(".");
  const key = await keyOfVersion("SEALING_KEY", id);
  if (key === undefined) return false;
  const expected = Buffer.from(mac(key, text));
  const actual = Buffer.from(digest);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

const mac = (key: Uint8Array, text: string): string => createHmac("sha256", key).update(text).digest("base64url");
