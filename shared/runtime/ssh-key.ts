// SSH public keys: one line in OpenSSH format, without options, of a kind and strength that is safe to put on a machine.
import { createHash } from "node:crypto";
import { invalid } from "../api/errors.ts";

/** Bits of an RSA modulus below which a key can be broken. */
const RSA_BITS_MIN = 2048;

/** Length of each kind's key material in bytes; RSA's is judged by its modulus. */
const KEY_BYTES: Record<string, number> = {
  "ssh-ed25519": 32,
  "ecdsa-sha2-nistp256": 65,
  "ecdsa-sha2-nistp384": 97,
  "ecdsa-sha2-nistp521": 133,
  // Security keys, followed by the name of their application (OpenSSH's PROTOCOL.u2f).
  "sk-ssh-ed25519@openssh.com": 32,
  "sk-ecdsa-sha2-nistp256@openssh.com": 65,
};

/** The key as it will be stored, and its fingerprint; throws the validation error on `public_key`. */
export function parseSshKey(text: string): { public_key: string; fingerprint: string } {
  const line = text.trim();
  if (/[\p{Cc}]/u.test(line)) throw reject("must be one line without control characters");
  const [type = "", base64 = "", ...comment] = line.split(/ +/);
  if (type !== "ssh-rsa" && !Object.hasOwn(KEY_BYTES, type))
    throw reject("must be an OpenSSH ed25519, ecdsa, sk-ed25519, sk-ecdsa or rsa key without options");
  const blob = Buffer.from(base64, "base64");
  if (blob.toString("base64") !== base64) throw reject("must contain a base64-encoded key");
  const parts = strings(blob);
  if (parts?.[0]?.toString() !== type || !isWhole(type, parts)) throw reject("is incomplete or damaged");
  if (type === "ssh-rsa" && bits(parts[2]) < RSA_BITS_MIN) throw reject(`must have at least ${RSA_BITS_MIN} bits`);
  return {
    public_key: [type, base64, ...comment].join(" "),
    fingerprint: `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/, "")}`,
  };
}

const reject = (reason: string) => invalid({ field: "public_key", reason });

function isWhole(type: string, parts: readonly Buffer[]): parts is [Buffer, Buffer, Buffer] {
  if (type === "ssh-rsa") return parts.length === 3;
  const [, curve] = /ecdsa-sha2-(nistp\d+)/.exec(type) ?? [];
  const [, ...fields] = parts;
  if (curve !== undefined && fields.shift()?.toString() !== curve) return false;
  const [key, application] = fields;
  const isNamed = type.startsWith("sk-") ? application !== undefined && application.length > 0 : application === undefined;
  return key?.length === KEY_BYTES[type] && isNamed && fields.length <= 2;
}

/** RFC 4253: a sequence of strings, each after its length in four bytes; undefined if it does not end where it should. */
function strings(blob: Buffer): Buffer[] | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  while (at < blob.length) {
    if (at + 4 > blob.length) return undefined;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return undefined;
    parts.push(blob.subarray(at + 4, end));
    at = end;
  }
  return parts;
}

/** Significant bits of a big-endian number. */
function bits(number: Buffer): number {
  const first = number.findIndex((byte) => byte !== 0);
  const head = number[first];
  return head === undefined ? 0 : (number.length - first - 1) * 8 + (32 - Math.clz32(head));
}
