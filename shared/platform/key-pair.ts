// An SSH key pair derived from a seed, in OpenSSH's format: the same seed gives the same pair, so nothing is stored.
import { createHash, createPrivateKey, createPublicKey } from "node:crypto";

export interface KeyPair {
  /** The key as in an `id_ed25519` file. */
  private_key: string;
  /** One line, as in `authorized_keys`. */
  public_key: string;
}

const TYPE = "ssh-ed25519";
/** The prefix of the 32 bytes of the seed in PKCS #8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");
const BLOCK_BYTES = 8;
const LINE_LENGTH = 70;

export function createKeyPair(seed: Uint8Array, comment: string): KeyPair {
  const publicBytes = derivePublicBytes(seed);
  const publicBlob = Buffer.concat([field(TYPE), field(publicBytes)]);
  // Two equal numbers, by which a reader recognizes a correct decryption; random elsewhere, but derived here, too.
  const check = createHash("sha256").update("check").update(seed).digest().subarray(0, 4);
  const secret = [check, check, field(TYPE), field(publicBytes), field(Buffer.concat([seed, publicBytes])), field(comment)];
  const head = [Buffer.from("openssh-key-v1\0"), field("none"), field("none"), field(""), number(1), field(publicBlob)];
  const lines = Buffer.concat([...head, field(padded(Buffer.concat(secret)))])
    .toString("base64")
    .match(new RegExp(`.{1,${LINE_LENGTH}}`, "g"));
  return {
    private_key: ["-----BEGIN OPENSSH PRIVATE KEY-----", ...(lines ?? []), "-----END OPENSSH PRIVATE KEY-----", ""].join("\n"),
    public_key: `${TYPE} ${publicBlob.toString("base64")} ${comment}`,
  };
}

function derivePublicBytes(seed: Uint8Array): Buffer {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: "der", type: "pkcs8" });
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  return Buffer.from(x, "base64url");
}

function field(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([number(bytes.length), bytes]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Padded with 1, 2, 3 and so on. */
function padded(bytes: Buffer): Buffer {
  const missing = (BLOCK_BYTES - (bytes.length % BLOCK_BYTES)) % BLOCK_BYTES;
  return Buffer.concat([bytes, Buffer.from(Array.from({ length: missing }, (_, index) => index + 1))]);
}

/** Returns the fingerprint as `ssh-keygen -l` shows it. */
export function fingerprintOf(publicKey: string): string {
  const [, base64 = ""] = publicKey.split(" ");
  return `SHA256:${createHash("sha256").update(Buffer.from(base64, "base64")).digest("base64").replace(/=+$/, "")}`;
}
