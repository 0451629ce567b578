// Secrets Manager on this machine: it generates secrets once and stores them in one file for its owner only.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import * as z from "zod";
import { openSecrets, type Secrets } from "../../infra/local/secrets/secrets.ts";
import { unless } from "../harness/unless.ts";
import { noProc, syncedBy } from "./synced.ts";

const folder = mkdtempSync(join(tmpdir(), "secrets-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = async (secrets: Secrets, SecretId: string): Promise<string> =>
  z.object({ SecretString: z.string() }).parse(await secrets.call("GetSecretValue", { SecretId })).SecretString;

test("a secret is generated once, as the template says, in a file that only its owner can read", async () => {
  const file = join(folder, "secrets.json");
  const resource = {
    name: "admin",
    arn: "arn:aws:secretsmanager:us-east-1:000000000000:secret:admin-local0",
    properties: {
      GenerateSecretString: {
        PasswordLength: 24,
        ExcludeUppercase: true,
        ExcludePunctuation: true,
        ExcludeCharacters: "abc0",
        SecretStringTemplate: '{"user":"admin"}',
        GenerateStringKey: "password",
      },
    },
  };
  const first = openSecrets({ file });
  first.ensure(resource);
  const value = await read(first, "admin");
  expect(JSON.parse(value)).toEqual({ user: "admin", password: expect.stringMatching(/^(?=.*[a-z])(?=.*\d)[d-z1-9]{24}$/) });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const second = openSecrets({ file });
  second.ensure(resource);
  expect(await read(second, resource.arn)).toBe(value);
});

test("a new or changed secret is on disk, with its file's name", unless(noProc), async () => {
  const durable = mkdtempSync(join(folder, "durable-"));
  const secrets = openSecrets({ file: join(durable, "secrets.json") });
  const arn = "arn:aws:secretsmanager:us-east-1:000000000000:secret:kept-local0";
  const onDisk = ["/secrets.json.new", ""];
  expect(await syncedBy(durable, () => secrets.ensure({ name: "kept", arn, properties: {} }))).toEqual(onDisk);
  const change = { SecretId: "kept", SecretString: "another" };
  expect(await syncedBy(durable, () => secrets.call("PutSecretValue", change))).toEqual(onDisk);
});

test("an unreadable secrets file is never overwritten", () => {
  const file = join(folder, "broken.json");
  writeFileSync(file, "[{");
  expect(() => openSecrets({ file })).toThrow("restore that file");
  expect(readFileSync(file, "utf8")).toBe("[{");
});

test("the operator's settings at a start override stored ones and are not stored", async () => {
  const file = join(folder, "covered.json");
  const arn = "arn:aws:secretsmanager:us-east-1:000000000000:secret:providers-local0";
  const secrets = openSecrets({ file });
  secrets.ensure({ name: "providers", arn, properties: { SecretString: '{"tls":"acme","acme_email":"a@example.com"}' } });
  secrets.cover(arn, { tls: "internal", hetzner: { token: "t0ken" } });
  const configured = { tls: "internal", acme_email: "a@example.com", hetzner: { token: "t0ken" } };
  expect(JSON.parse(await read(secrets, arn))).toEqual(configured);
  expect(readFileSync(file, "utf8")).not.toContain("t0ken");
});
