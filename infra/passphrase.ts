// What leaves the service sealed by a passphrase of the operator's: JWE (RFC 7516), which other programs can open, too.
import { CompactEncrypt, compactDecrypt, errors } from "jose";
import { LocalError } from "./local/errors.ts";

const PASSPHRASE_MIN = 12;
/** OWASP's number for PBKDF2 with SHA-512: some 0.1 s for each guess. */
const ITERATIONS = 210_000;

/** The passphrase in this environment variable. */
export function requirePassphrase(name: string, variables: Readonly<Record<string, string | undefined>>): Uint8Array {
  const { [name]: text = "" } = variables;
  if (text.length < PASSPHRASE_MIN) throw new LocalError(`The passphrase has at least ${PASSPHRASE_MIN} characters: set ${name}`);
  return new TextEncoder().encode(text);
}

export const seal = (text: string, passphrase: Uint8Array): Promise<string> =>
  new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: "PBES2-HS512+A256KW", enc: "A256GCM" })
    .setKeyManagementParameters({ p2c: ITERATIONS })
    .encrypt(passphrase);

/** @throws LocalError for another passphrase or a damaged text; `subject` names it. */
export async function unseal(jwe: string, passphrase: Uint8Array, subject: string): Promise<string> {
  try {
    const { plaintext } = await compactDecrypt(jwe.trim(), passphrase, {
      keyManagementAlgorithms: ["PBES2-HS512+A256KW"],
      contentEncryptionAlgorithms: ["A256GCM"],
      maxPBES2Count: ITERATIONS * 10,
    });
    return new TextDecoder().decode(plaintext);
  } catch (cause) {
    if (cause instanceof errors.JOSEError) throw new LocalError(`The passphrase is wrong, or ${subject} is damaged`, { cause });
    throw cause;
  }
}
