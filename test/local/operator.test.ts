// The environment variables that the operator of a live service on one machine sets, and their own store for archives.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { PutSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { expect, test, vi } from "vitest";
import { ROOT } from "../../infra/built.ts";
import { configurationFrom, mailFrom, PROVIDER_VARIABLES, storeFrom } from "../../infra/local/operator.ts";
import { putArchive, requireStored } from "../../shared/storage/archives.ts";
import { presignedArchive } from "../../shared/storage/presign.ts";
import { scratch } from "../infra/stubs.ts";
import { PROVIDERS, RENTED } from "../providers/table.ts";
import { BUCKET, SECRET, startLocal } from "./services.ts";

const MACHINE = { name: "office", address: "192.0.2.7", host_key: "ssh-ed25519 AAAA", cpu: 2, memory_gb: 4, disk_gb: 40 };

test("environment variables become the settings of providers, and empty ones do not", () => {
  const variables = { HETZNER_TOKEN: "h", DIGITALOCEAN_TOKEN: "", TLS: "internal", ACME_EMAIL: "a@example.com" };
  expect(configurationFrom(variables)).toEqual({ hetzner: { token: "h" }, tls: "internal", acme_email: "a@example.com" });
  expect(configurationFrom({})).toEqual({});
  const registry = { REGISTRY_MIRROR: "mirror.example.com:5000/hub", REGISTRY_USERNAME: "u", REGISTRY_PASSWORD: "p" };
  expect(configurationFrom(registry)).toEqual({
    registry: { mirror: "mirror.example.com:5000/hub", username: "u", password: "p" },
  });
  expect(configurationFrom({ REGISTRY_MIRROR: "mirror.example.com" })).toEqual({ registry: { mirror: "mirror.example.com" } });
  expect(configurationFrom({ REGISTRY_MIRROR: "", REGISTRY_PASSWORD: "" })).toEqual({});
  const networks = ["192.168.1.0/24", "203.0.113.25", "fd12::/16"];
  expect(configurationFrom({ OPEN_NETWORKS: networks.join(", ") })).toEqual({ open_networks: networks });
});

/** What README.md and docs/live.md say of the service before anything else. */
const introduction = (page: string): string => readFileSync(join(ROOT, page), "utf8").split(/^## /m)[0] ?? "";

test.each(["README.md", "docs/live.md"])("the introduction of %s names every provider that machines are rented from", (page) => {
  const names = RENTED.map((code) => PROVIDERS[code].create({ token: "token", deployment: "test" }).name);
  expect(names.filter((name) => !introduction(page).includes(name))).toEqual([]);
});

test("docs/live.md has a row for the variable of each provider, which holds its settings", () => {
  const rows = readFileSync(join(ROOT, "docs/live.md"), "utf8").match(/^\| `.*/gm) ?? [];
  const beginnings = rows.map((row) => row.replaceAll(/ +/g, " "));
  for (const [provider, variable] of Object.entries(PROVIDER_VARIABLES)) {
    const beginning = `| \`${variable}\` | \`{"${provider}": `;
    expect(
      beginnings.some((each) => each.startsWith(beginning)),
      `docs/live.md lacks the row ${beginning}`,
    ).toBe(true);
    const configure = () => configurationFrom({ [variable]: provider === "byo" ? JSON.stringify([MACHINE]) : "token" });
    expect(Object.keys(configure()), `configurationFrom reads ${variable}`).toEqual([provider]);
  }
});

test("mail goes to a mail server, or into files of the data folder", () => {
  const brand = { name: "Acme", logo: "data:…", color: "#0b5cad", support_url: null };
  const MAIL_BRAND = '{"name":"Acme","color":"#0b5cad"}';
  expect(mailFrom({}, "/data", brand)).toEqual({ MAIL_BRAND, MAIL_DIRECTORY: "/data/mails" });
  const smtp = { SMTP_URL: "smtps://user:s3cret@mail.example.com:465", MAIL_SENDER: "noreply@example.com" };
  expect(mailFrom({ ...smtp, HOME: "/root" }, "/data", null)).toEqual({ MAIL_BRAND: "{}", ...smtp });
  for (const [variables, message] of [
    [{ SMTP_URL: smtp.SMTP_URL }, /MAIL_SENDER/],
    [{ ...smtp, MAIL_SENDER: "a@example.com\r\nBcc: b@example.com" }, /MAIL_SENDER/],
    [{ ...smtp, SMTP_URL: "https://user:s3cret@mail.example.com" }, /SMTP_URL must be/],
  ] as const) {
    expect(() => mailFrom(variables, "/data", null)).toThrow(message);
    expect(() => mailFrom(variables, "/data", null)).not.toThrow(/s3cret/);
  }
});

test("machines can be given as a list or as a file with the list", () => {
  const list = JSON.stringify([MACHINE]);
  const file = join(scratch(), "machines.json");
  writeFileSync(file, list);
  for (const BYO_MACHINES of [list, file]) expect(configurationFrom({ BYO_MACHINES })).toEqual({ byo: { machines: [MACHINE] } });
});

test.each([
  ["a missing file", { BYO_MACHINES: "/no/such/file" }, /BYO_MACHINES is neither/],
  ["invalid JSON", { BYO_MACHINES: "[{" }, /BYO_MACHINES is not JSON/],
  ["a machine without a host key", { BYO_MACHINES: '[{"name":"a","address":"192.0.2.7"}]' }, /byo\.machines\.0\.host_key/],
  ["an unknown kind of certificate", { TLS: "none" }, /tls/],
  ["a network with too long a prefix", { OPEN_NETWORKS: "10.0.0.0/33" }, /open_networks\.0/],
  ["a network that is a name", { OPEN_NETWORKS: "relay.example.com" }, /open_networks\.0/],
  ["a registry mirror with a scheme", { REGISTRY_MIRROR: "https://mirror.example.com" }, /registry\.mirror/],
  ["a registry's password without a user name", { REGISTRY_PASSWORD: "s3cret-token" }, /registry/],
  ["a source without the version", { ENTERPRISE_SOURCE: "https://example.com/x.tar.gz" }, /enterprise_source/],
])("%s is rejected without repeating any of the input", (_, variables, message) => {
  const environment = { HETZNER_TOKEN: "s3cret-token", ...variables };
  expect(() => configurationFrom(environment)).toThrow(message);
  expect(() => configurationFrom(environment)).not.toThrow("s3cret-token");
});

test("the settings of your own store must be complete or absent", () => {
  expect(storeFrom({})).toBeUndefined();
  expect(() => storeFrom({ BACKUP_S3_ENDPOINT: "https://s3.example.com" })).toThrow("BACKUP_S3_BUCKET");
});

test("archives are written to your own store and read from it", async () => {
  const local = await startLocal({ dynamodb: false });
  const config = local.as("operator");
  const store = storeFrom({
    BACKUP_S3_ENDPOINT: config.endpoint,
    BACKUP_S3_BUCKET: BUCKET,
    BACKUP_S3_REGION: config.region,
    BACKUP_S3_ACCESS_KEY_ID: config.credentials.accessKeyId,
    BACKUP_S3_SECRET_ACCESS_KEY: config.credentials.secretAccessKey,
  });
  // AWS itself has another address, and gets none of it.
  const elsewhere = { AWS_ENDPOINT_URL: "http://127.0.0.1:1", AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
  Object.assign(process.env, { ...elsewhere, ...store });
  const key = "accounts/a/backups/b.zip";
  const bytes = Buffer.from("an archive");
  await requireStored(key, { size_bytes: bytes.length, stored_checksum: await putArchive(key, bytes) });
  const s3 = new S3Client({ ...config, forcePathStyle: true });
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: key }));
  expect(await Body?.transformToString()).toBe("an archive");
  expect(await (await fetch(await presignedArchive(key, 60))).text()).toBe("an archive");
  await local.stop();
});

test("a deployment's own store has its keys in a secret, which may be changed, and without which a request is to be retried", async () => {
  const local = await startLocal({ dynamodb: false });
  const { endpoint, region, credentials } = local.as("operator");
  const BACKUP_S3 = { BACKUP_S3_ENDPOINT: endpoint, BACKUP_S3_REGION: region, BACKUP_BUCKET: BUCKET, BACKUP_S3_SECRET: SECRET };
  const aws = { AWS_ENDPOINT_URL: endpoint, AWS_REGION: region, AWS_ACCESS_KEY_ID: credentials.accessKeyId };
  Object.assign(process.env, { ...BACKUP_S3, ...aws, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey });
  vi.resetModules(); // the client knows its store
  const { putArchive, requireStored } = await import("../../shared/storage/archives.ts");
  const { presignedArchive } = await import("../../shared/storage/presign.ts");
  const secrets = new SecretsManagerClient(local.as("operator"));
  const store = (SecretString: string) => secrets.send(new PutSecretValueCommand({ SecretId: SECRET, SecretString }));
  const keysOf = ({ accessKeyId, secretAccessKey }: typeof credentials) =>
    JSON.stringify({ access_key_id: accessKeyId, secret_access_key: secretAccessKey });

  for (const unusable of [keysOf({ accessKeyId: "", secretAccessKey: "" }), "s3cret that is not JSON"]) {
    await store(unusable);
    const error = await presignedArchive("a", 60).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(inspect(error)).not.toContain("s3cret");
  }
  await store(keysOf(credentials));
  const key = "accounts/a/backups/c.zip";
  const bytes = Buffer.from("another archive");
  await requireStored(key, { size_bytes: bytes.length, stored_checksum: await putArchive(key, bytes) });
  expect(await (await fetch(await presignedArchive(key, 60))).text()).toBe("another archive");

  const other = local.as("other");
  await store(keysOf(other.credentials));
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
  const url = await presignedArchive(key, 3600);
  vi.useRealTimers();
  expect(url).toContain(encodeURIComponent(other.credentials.accessKeyId));
  await local.stop();
});
