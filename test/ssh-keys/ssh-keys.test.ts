// POST, GET and DELETE on /ssh-keys: types, strengths and fingerprints as OpenSSH itself computes them.
import { execFileSync, spawnSync } from "node:child_process";
import { createECDH, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as sshKeys from "../../shared/api/ssh-keys.ts";
import { setQuota } from "../../shared/operations/accounts/operator.ts";
import { account, newPublicKey, type TestAccount, unusedId } from "../harness/account.ts";
import { unless } from "../harness/unless.ts";

let me: TestAccount;
const folder = mkdtempSync(join(tmpdir(), "ssh-keys-"));
beforeAll(async () => {
  me = await account();
});
afterAll(() => rmSync(folder, { recursive: true }));

const noOpenSsh = spawnSync("ssh-keygen", ["-?"]).error === undefined ? undefined : "there is no ssh-keygen here";

/** A key that OpenSSH generated, and its fingerprint. */
function generated(type: string, bits?: number): { publicKey: string; fingerprint: string } {
  const file = join(folder, `${type}-${bits ?? 0}-${Math.random()}`);
  execFileSync("ssh-keygen", [
    "-q",
    "-t",
    type,
    ...(bits === undefined ? [] : ["-b", String(bits)]),
    "-N",
    "",
    "-C",
    "ops@example.com",
    "-f",
    file,
  ]);
  const [, fingerprint = ""] = execFileSync("ssh-keygen", ["-l", "-E", "sha256", "-f", `${file}.pub`])
    .toString()
    .split(" ");
  return { publicKey: readFileSync(`${file}.pub`, "utf8").trim(), fingerprint };
}

/** A public key of these parts in RFC 4253's format. */
function line(type: string, parts: readonly Buffer[]): string {
  const blob = [Buffer.from(type), ...parts].flatMap((part) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    return [length, part];
  });
  return `${type} ${Buffer.concat(blob).toString("base64")} laptop`;
}

/** OpenSSH checks that a point is on the curve. */
function pointOfP256(): Buffer {
  const ecdh = createECDH("prime256v1");
  return ecdh.generateKeys();
}

const add = async (public_key: string) => (await me.token()).api.post("/ssh-keys", { name: "Laptop", public_key });

describe("with keys that OpenSSH made", unless(noOpenSsh), () => {
  test.each<[string, number?]>([["ed25519"], ["ecdsa", 256], ["ecdsa", 384], ["ecdsa", 521], ["rsa", 2048], ["rsa", 3072]])(
    "an OpenSSH key of type %s %s is accepted, with OpenSSH's own fingerprint",
    async (type, bits) => {
      const { publicKey, fingerprint } = generated(type, bits);
      const response = await add(publicKey);
      const key = response.as(sshKeys.create().data);
      expect(key).toEqual({
        id: expect.stringMatching(/^key_/),
        name: "Laptop",
        public_key: publicKey,
        fingerprint,
        created_at: expect.any(String),
      });
      expect(response.headers["location"]).toBe(`/api/v1/ssh-keys/${key.id}`);
      expect((await me.api.get(`/ssh-keys/${key.id}`)).as(sshKeys.get().data)).toEqual(key);
    },
  );

  test.each([
    ["sk-ssh-ed25519@openssh.com", [randomBytes(32), Buffer.from("ssh:")]],
    ["sk-ecdsa-sha2-nistp256@openssh.com", [Buffer.from("nistp256"), pointOfP256(), Buffer.from("ssh:laptop")]],
  ])("a security key of type %s is accepted, with OpenSSH's own fingerprint; half of one is not", async (type, parts) => {
    const publicKey = line(type, parts);
    const file = join(folder, type);
    writeFileSync(file, `${publicKey}\n`);
    const [, fingerprint] = execFileSync("ssh-keygen", ["-l", "-E", "sha256", "-f", file]).toString().split(" ");
    expect((await add(publicKey)).as(sshKeys.create().data)).toMatchObject({ public_key: publicKey, fingerprint });
    for (const broken of [
      parts.slice(0, -1),
      [...parts, Buffer.from("x")],
      [...parts.slice(0, -1), Buffer.alloc(0)],
      parts.slice(1),
    ])
      expect((await add(line(type, broken))).error).toMatchObject({ details: { reason: "is incomplete or damaged" } });
  });

  test("an RSA key of 1024 bits is too weak", async () => {
    const { error } = await add(generated("rsa", 1024).publicKey);
    expect(error).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field: "public_key", reason: "must have at least 2048 bits" },
    });
  });

  test("a private key is rejected, and the response does not repeat it", async () => {
    const file = join(folder, "private");
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file]);
    const text = readFileSync(file, "utf8");
    const response = await add(text);
    expect(response.error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "public_key" } });
    expect(response.text).not.toContain(text.split("\n")[1]);
  });
});

describe("invalid keys", () => {
  const good = newPublicKey();
  const [type = "", base64 = ""] = good.split(" ");
  const blob = Buffer.from(base64, "base64");
  test.each([
    ["an empty text", ""],
    ["options before the key", `command="rm -rf /" ${good}`],
    ["two lines", `${good}\n${good}`],
    ["a carriage return inside", `${type} ${base64}\r evil`],
    ["a NUL in the comment", `${type} ${base64} a\u0000b`],
    ["a DSA key", `ssh-dss ${base64}`],
    ["a type that differs from the key's", `ssh-rsa ${base64}`],
    ["a certificate", `ssh-ed25519-cert-v01@openssh.com ${base64}`],
    ["a security key", `sk-ssh-ed25519@openssh.com ${base64}`],
    ["a truncated key", `${type} ${blob.subarray(0, -1).toString("base64")}`],
    ["a key with extra bytes", `${type} ${Buffer.concat([blob, Buffer.from([0])]).toString("base64")}`],
    [
      "a wrong length",
      `${type} ${Buffer.concat([blob.subarray(0, 15), Buffer.from([0xff, 0xff, 0xff, 0xff]), blob.subarray(19)]).toString("base64")}`,
    ],
    ["invalid base64", `${type} %%%%`],
    ["a type without a key", type],
    ["a property name of Object", `constructor ${base64}`],
    ["more than 4096 characters", `${good} ${"x".repeat(4_096)}`],
  ])("adding an SSH key rejects %s", async (_, publicKey) => {
    const response = await add(publicKey);
    expect(response.status).toBe(422);
    expect(response.error?.details?.["field"]).toBe("public_key");
  });
});

test("spaces around a public key do not matter", async () => {
  const publicKey = newPublicKey();
  expect((await add(`  ${publicKey}\n`)).as(sshKeys.create().data).public_key).toBe(publicKey);
});

test("a deleted SSH key is gone immediately", async () => {
  const { id } = (await add(newPublicKey())).as(sshKeys.create().data);
  expect((await me.api.delete(`/ssh-keys/${id}`)).body).toEqual({ success: true, data: { id, deleted: true } });
  for (const path of [`/ssh-keys/${id}`, `/ssh-keys/${unusedId("ssh_key")}`]) expect((await me.api.get(path)).status).toBe(404);
  expect((await me.api.delete(`/ssh-keys/${id}`)).status).toBe(404);
});

test("adding an SSH key beyond the quota fails; a deletion makes room again", async () => {
  const other = await account();
  await setQuota(other.id, "ssh_key", 1);
  const { id } = await other.sshKey();
  const body = { name: "One more", public_key: newPublicKey() };
  expect((await other.api.post("/ssh-keys", body)).error).toMatchObject({
    code: "QUOTA_EXCEEDED",
    details: { resource: "ssh_key", limit: 1 },
  });
  await other.api.delete(`/ssh-keys/${id}`);
  expect((await other.api.post("/ssh-keys", body)).status).toBe(201);
});
