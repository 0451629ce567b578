// Backups of the service itself: taken while it writes, restored elsewhere, refused if damaged; by the operator's command in a
// folder and a bucket.
import { execFile } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { DynamoDBClient, GetItemCommand, PutItemCommand, ScanCommand, TransactWriteItemsCommand } from "@aws-sdk/client-dynamodb";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeAccess } from "../../infra/local/access.ts";
import { startCloud, type Cloud } from "../../infra/local/cloud.ts";
import { openBackupStore } from "../../infra/local/service-backup/store.ts";
import { dailyBackups } from "../../infra/local/service-backup/schedule.ts";
import { backUpService, listBackups, restoreService } from "../../infra/local/service-backup/service-backup.ts";
import { STACK, synthesize } from "./fixture/stack.ts";
import { BUCKET, startLocal } from "./services.ts";

const PASSPHRASE = "correct horse battery";
const passphrase = new TextEncoder().encode(PASSPHRASE);
const scratch = (): string => mkdtempSync(join(tmpdir(), "service-"));
const DAY_MS = 24 * 3600 * 1000;

const outDir = scratch();
const dataDir = scratch();
let cloud: Cloud;
let table: DynamoDBClient;

const clientOf = ({ awsUrl, operator }: Cloud) => ({ endpoint: awsUrl, region: "us-east-1", credentials: { ...operator } });
const secretsOf = async (of: Cloud): Promise<(string | undefined)[]> => {
  const client = new SecretsManagerClient(clientOf(of));
  const ids = of.template.secrets.map(({ arn }) => client.send(new GetSecretValueCommand({ SecretId: arn })));
  return (await Promise.all(ids)).map(({ SecretString }) => SecretString);
};

const start = (at: string): Promise<Cloud> => startCloud({ outDir, stack: STACK, schedules: false, timeScale: 0, dataDir: at });
beforeAll(async () => {
  synthesize(outDir);
  cloud = await start(dataDir);
  writeAccess(dataDir, { ...cloud.operator.environment, TABLE_NAME: cloud.tableName, ENVIRONMENT: "live" });
  table = new DynamoDBClient(clientOf(cloud));
  const [bucket] = cloud.template.buckets;
  const s3 = new S3Client({ ...clientOf(cloud), forcePathStyle: true });
  await s3.send(new PutObjectCommand({ Bucket: bucket?.name, Key: "accounts/a/backups/b.zip", Body: "an archive" }));
});
afterAll(() => cloud.stop());

const name = () => cloud.tableName;
/** Two items that change together: a backup has both changes or neither. */
const count = (n: number) =>
  table.send(
    new TransactWriteItemsCommand({
      TransactItems: ["left", "right"].map((pk) => ({
        Put: { TableName: name(), Item: { pk: { S: pk }, n: { N: String(n) }, pad: { S: "x".repeat(20_000) } } },
      })),
    }),
  );

async function run(args: readonly string[], variables: Record<string, string> = {}): Promise<{ code: number; output: string }> {
  const env = { ...process.env, SERVICE_BACKUP_PASSPHRASE: PASSPHRASE, ...variables };
  return promisify(execFile)(process.execPath, [resolve("infra/admin.ts"), ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, output: stdout + stderr }),
  );
}

test("a backup that is taken while the service writes is of one moment, and a service starts from it with the same keys", async () => {
  await table.send(new PutItemCommand({ TableName: name(), Item: { pk: { S: "before" } } }));
  await count(1);
  const ending = new AbortController();
  const writes = (async () => {
    for (let n = 2; !ending.signal.aborted; n++) await count(n);
  })();
  const to = scratch();
  const store = await openBackupStore(to, {});
  const backup = await backUpService({ dataDir, store, passphrase, keep: 3 });
  ending.abort();
  await writes;
  expect(backup).toMatchObject({ environment: "live", objects: 1 });
  for (const file of readdirSync(join(to, backup.name))) {
    const path = join(to, backup.name, file);
    expect(statSync(path).mode & 0o77, file).toBe(0);
    for (const secret of [...(await secretsOf(cloud)), readFileSync(join(dataDir, "local-secret"), "utf8")])
      expect(readFileSync(path, "utf8").includes(secret ?? ""), file).toBe(false);
  }
  expect(readdirSync(join(dataDir, "service-backup"))).toEqual([]);

  const at = join(scratch(), "restored");
  expect(await restoreService({ store, name: backup.name, passphrase, dataDir: at })).toEqual({ objects: 1, interrupted: [] });
  const [bucket] = cloud.template.buckets;
  cpSync(join(dataDir, "s3", bucket?.name ?? "", "data"), join(at, "s3", bucket?.name ?? "", "data"), { recursive: true });
  const restored = await start(at);
  try {
    const client = new DynamoDBClient(clientOf(restored));
    const { Items = [] } = await client.send(new ScanCommand({ TableName: name() }));
    expect(Items).toHaveLength(backup.items);
    const [left, right] = ["left", "right"].map((pk) => Items.find((item) => item["pk"]?.S === pk)?.["n"]?.N);
    expect(Number(left)).toBeGreaterThan(0);
    expect(left).toBe(right);
    expect(await client.send(new GetItemCommand({ TableName: name(), Key: { pk: { S: "before" } } }))).toHaveProperty("Item");
    expect(await secretsOf(restored)).toEqual(await secretsOf(cloud));
    expect(restored.operator.secretAccessKey).toBe(cloud.operator.secretAccessKey);
  } finally {
    await restored.stop();
  }
});

test("a wrong passphrase, a damaged or a replaced file restore nothing", async () => {
  const to = scratch();
  const store = await openBackupStore(to, {});
  const { name: backup } = await backUpService({ dataDir, store, passphrase, keep: 3 });
  await count(0);
  const { name: another } = await backUpService({ dataDir, store, passphrase, keep: 3 });
  const parent = scratch();
  const restoring = (from: string, by = passphrase) =>
    restoreService({ store, name: from, passphrase: by, dataDir: join(parent, "restored") });
  await expect(restoring(backup, new TextEncoder().encode("wrong horse battery"))).rejects.toThrow("passphrase is wrong");
  cpSync(join(to, another, "table.sqlite.gz"), join(to, backup, "table.sqlite.gz"));
  await expect(restoring(backup)).rejects.toThrow("table.sqlite.gz is damaged, or not the one that was backed up");
  appendFileSync(join(to, another, "objects.json.gz"), "x");
  await expect(restoring(another)).rejects.toThrow("objects.json.gz is damaged");
  rmSync(join(to, another, "secrets.jwe"));
  await expect(restoring(another)).rejects.toThrow("secrets.jwe cannot be read");
  expect(readdirSync(parent)).toEqual([]);
});

test("nothing is restored over other data, and two backups at once do not disturb each other", async () => {
  const store = await openBackupStore(scratch(), {});
  const both = await Promise.allSettled([1, 2].map(() => backUpService({ dataDir, store, passphrase, keep: 3 })));
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(both.find(({ status }) => status === "rejected")).toMatchObject({
    reason: { message: expect.stringContaining("is used by") },
  });
  const [backup] = await listBackups(store);
  await expect(restoreService({ store, name: backup?.name ?? "", passphrase, dataDir })).rejects.toThrow("is not empty");
});

test("old backups go, and what an interrupted one left is none and goes after a day", async () => {
  const to = scratch();
  const store = await openBackupStore(to, {});
  const file = join(scratch(), "file");
  writeFileSync(file, "half of it");
  const nameAt = (ago: number) => `service-${new Date(Date.now() - ago).toISOString().replaceAll(/[:.]/g, "-")}-abcdef`;
  const [interrupted, beingWritten] = [nameAt(2 * DAY_MS), nameAt(1000)];
  for (const each of [interrupted, beingWritten]) await store.put(`${each}/table.sqlite.gz`, file);
  writeFileSync(join(to, "notes.txt"), "of somebody else");
  expect(await listBackups(store)).toEqual([]);
  const names: string[] = [];
  for (let n = 0; n < 3; n++) names.push((await backUpService({ dataDir, store, passphrase, keep: 2 })).name);
  expect((await listBackups(store)).map(({ name: each }) => each)).toEqual(names.slice(1).toReversed());
  expect(readdirSync(to).toSorted()).toEqual(["notes.txt", beingWritten, ...names.slice(1)].toSorted());
});

test("the operator's commands take, list and restore one, and raise an alarm when the newest is old", async () => {
  const to = scratch();
  expect(await run(["service-backups", "--from", to])).toEqual({ code: 1, output: "ALARM: there is no backup of the service\n" });
  expect((await run(["backup-service", "--to", to, "--data", dataDir])).code).toBe(0);
  expect(await run(["backup-service", "--daily", "--to", to, "--data", dataDir])).toEqual({ code: 0, output: "" });
  expect(await run(["service-backups", "--from", to])).toMatchObject({ code: 0, output: expect.stringContaining("1 objects") });
  const at = join(scratch(), "restored");
  const restored = await run(["restore-service", "--from", to, "--data", at]);
  expect(restored).toMatchObject({ code: 0, output: expect.stringContaining(`npm start -- --environment live --data ${at}`) });

  const [name_ = ""] = readdirSync(to);
  const manifest = join(to, name_, "manifest.json");
  const old = new Date(Date.now() - 3 * DAY_MS).toISOString();
  writeFileSync(manifest, JSON.stringify({ ...JSON.parse(readFileSync(manifest, "utf8")), created_at: old }));
  expect(await run(["service-backups", "--from", to])).toMatchObject({
    code: 1,
    output: expect.stringContaining("ALARM: the newest"),
  });
  const failed = await run(["backup-service", "--to", to, "--data", scratch()]);
  expect(failed).toMatchObject({ code: 1, output: expect.stringMatching(/access\.json is missing.*\nALARM: the newest/) });
  expect(await run(["backup-service", "--to", "ftp://x", "--data", dataDir])).toMatchObject({ code: 1 });
});

test("settings of `npm start` take one a day, and must be able to work", async () => {
  const to = scratch();
  const variables = { ...process.env, SERVICE_BACKUP_TO: to, SERVICE_BACKUP_PASSPHRASE: PASSPHRASE };
  expect(dailyBackups(dataDir, {})).toBeUndefined();
  expect(() => dailyBackups(dataDir, { ...variables, SERVICE_BACKUP_PASSPHRASE: "short" })).toThrow("at least 12 characters");
  expect(() => dailyBackups(dataDir, { ...variables, SERVICE_BACKUP_TO: "ftp://x" })).toThrow("neither a folder nor s3://");
  dailyBackups(dataDir, variables)?.();
  const store = await openBackupStore(to, {});
  await expect.poll(() => listBackups(store)).toHaveLength(1);
  await expect.poll(() => existsSync(join(dataDir, "service-backup", "lock"))).toBe(false);
});

test("a bucket can be the place, with the keys of the operator's own store", async () => {
  const local = await startLocal({ dynamodb: false });
  const { endpoint, region, credentials } = local.as("operator");
  const variables = {
    BACKUP_S3_ENDPOINT: endpoint,
    BACKUP_S3_BUCKET: BUCKET,
    BACKUP_S3_REGION: region,
    BACKUP_S3_ACCESS_KEY_ID: credentials.accessKeyId,
    BACKUP_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
  const store = await openBackupStore(`s3://${BUCKET}/of-the-service/`, variables);
  const names: string[] = [];
  for (let n = 0; n < 2; n++) names.push((await backUpService({ dataDir, store, passphrase, keep: 1 })).name);
  expect((await store.names()).every((each) => each.startsWith(`${names[1]}/`))).toBe(true);
  const at = join(scratch(), "restored");
  const restored = await run(["restore-service", "--from", `s3://${BUCKET}/of-the-service`, "--data", at], variables);
  expect(restored).toMatchObject({ code: 0, output: expect.stringContaining("1 objects") });
  await local.stop();
});
