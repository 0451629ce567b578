// The runbooks of docs/disaster.md, as far as they can be tried without AWS: what was lost is put back, and backups work.
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { DynamoDBClient, PutItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import * as z from "zod";
import { writeAccess } from "../../infra/local/access.ts";
import { type Cloud, variableOf } from "../../infra/local/cloud.ts";
import { Backup } from "../../shared/api/backups.ts";
import { Instance } from "../../shared/api/instances.ts";
import { Operation } from "../../shared/api/operations.ts";
import { archiveKey } from "../../shared/storage/archive-key.ts";
import { getArchive, putArchive, removeArchive } from "../../shared/storage/archives.ts";
import { account, type TestAccount, type TestToken } from "../harness/account.ts";
import { ownCloud } from "../harness/cloud.ts";
import { factsOf, startTestCloud } from "../harness/facts.ts";
import { BUCKET, startLocal } from "./services.ts";

const scratch = (): string => mkdtempSync(join(tmpdir(), "disaster-"));
const PASSPHRASES = { SERVICE_BACKUP_PASSPHRASE: "correct horse battery", HOSTS_KEY_PASSPHRASE: "correct horse battery" };
async function admin(...args: string[]): Promise<string> {
  const env = { PATH: process.env["PATH"], ...PASSPHRASES };
  return (await promisify(execFile)(process.execPath, [resolve("infra/admin.ts"), ...args], { env })).stdout;
}

const dataDir = scratch();
let cloud: Cloud;
let me: TestAccount;
let token: TestToken;
let instance: Instance;
let backup: Backup;
beforeAll(async () => {
  cloud = await ownCloud({ dataDir });
  writeAccess(dataDir, factsOf(cloud).environment);
  me = await account({ seeded: true });
  token = await me.token();
  instance = await me.instance();
  await me.api.put(`/sandbox/instances/${instance.id}/data`, { orders: 3 });
  const newBackup = (await me.api.post(`/instances/${instance.id}/backups`, {})).as(Backup);
  await me.until(newBackup.operation_id);
  backup = (await me.api.get(`/backups/${newBackup.id}`)).as(Backup);
  await me.api.put(`/sandbox/instances/${instance.id}/data`, { orders: 0 });
});

const ORDERS = { orders: 3 };
async function archiveOf(of: Backup): Promise<Uint8Array> {
  const bytes = await getArchive(keyOf(of));
  if (bytes === undefined) throw new Error("There is no archive to lose");
  return bytes;
}
const keyOf = ({ id }: Backup): string => archiveKey({ account_id: me.id, id });

/** Requests to another service, with a token of this one. */
function clientOf({ apiUrl }: Cloud, value: string) {
  const headers = { authorization: `Bearer ${value}`, "content-type": "application/json" };
  const send = async (path: string, body?: object): Promise<unknown> => {
    const init = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) };
    const { data } = z.looseObject({ data: z.json() }).parse(await (await fetch(`${apiUrl}/api/v1${path}`, init)).json());
    return data;
  };
  const restores = async (): Promise<unknown> => {
    const { id } = Operation.parse(await send(`/backups/${backup.id}/restore`, { backup_first: false }));
    await expect
      .poll(async () => Operation.parse(await send(`/operations/${id}`)).status, { timeout: 60_000 })
      .toMatch(/succeeded|failed/);
    expect(Operation.parse(await send(`/operations/${id}`))).toMatchObject({ status: "succeeded" });
    return send(`/sandbox/instances/${instance.id}/data`);
  };
  return { send, restores };
}

test("table lost: the service starts from its backup, and customers restore theirs", async () => {
  const to = scratch();
  await admin("backup-service", "--to", to, "--data", dataDir);
  const at = join(scratch(), "restored");
  await admin("restore-service", "--from", to, "--data", at);
  const bucket = variableOf(cloud.template, "BACKUP_BUCKET") ?? "";
  cpSync(join(dataDir, "s3", bucket, "data"), join(at, "s3", bucket, "data"), { recursive: true });
  const restored = await startTestCloud(inject("outDir"), "", { dataDir: at });
  try {
    expect(await clientOf(restored, token.value).restores()).toEqual(ORDERS);
  } finally {
    await restored.stop();
  }
});

test("region or account lost: a new stack with a copy of the table, the replica and the hosts' key", async () => {
  // What was outside of it: the replica, an export of the table, the sealed key.
  const replica = await startLocal({ dynamodb: false });
  afterAll(() => replica.stop());
  const operator = replica.as("operator");
  const s3 = new S3Client({ ...operator, forcePathStyle: true });
  const Body = await archiveOf(backup);
  await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: keyOf(backup), Body, ChecksumAlgorithm: "SHA256" }));
  const key = join(scratch(), "hosts-key");
  await admin("export-hosts-key", "--to", key, "--data", dataDir);
  const { Items = [] } = await tableOf(cloud).send(new ScanCommand({ TableName: cloud.tableName }));

  const at = scratch();
  const { accessKeyId, secretAccessKey } = operator.credentials;
  const store = {
    BACKUP_BUCKET: BUCKET,
    BACKUP_S3_ENDPOINT: operator.endpoint,
    BACKUP_S3_REGION: operator.region,
    BACKUP_S3_ACCESS_KEY_ID: accessKeyId,
    BACKUP_S3_SECRET_ACCESS_KEY: secretAccessKey,
  };
  const created = await startTestCloud(inject("outDir"), "", { dataDir: at, store });
  try {
    writeAccess(at, factsOf(created).environment);
    for (const Item of Items) await tableOf(created).send(new PutItemCommand({ TableName: created.tableName, Item }));
    expect(await hostsKeyOf(created)).not.toBe(await hostsKeyOf(cloud));
    await admin("import-hosts-key", "--from", key, "--data", at);
    expect(await hostsKeyOf(created)).toBe(await hostsKeyOf(cloud));
    const log = (await admin("hosts-key-log", "--data", at)).trim().split("\n");
    expect(log.map((line) => line.split("  ")[1])).toEqual(["exported", "imported"]);

    // Sessions were signed with the lost key: users sign in again. Tokens and passwords are in the table.
    const { token: session } = z
      .object({ token: z.string() })
      .parse(await clientOf(created, "").send("/auth/login", { email: me.user.email, password: me.user.password }));
    expect(await clientOf(created, session).send(`/backups/${backup.id}`)).toMatchObject({ status: "completed" });
    expect(await clientOf(created, token.value).restores()).toEqual(ORDERS);
  } finally {
    await created.stop();
  }
});

test("archives deleted by mistake: what is put back makes their backups whole, also those that failed for want of it", async () => {
  const bytes = await archiveOf(backup);
  await removeArchive(keyOf(backup));
  const restore = (await me.api.post(`/backups/${backup.id}/restore`, { backup_first: false })).as(Operation);
  expect((await me.until(restore.id, "failed")).error).toMatchObject({ code: "BACKUP_CORRUPT" });
  expect((await me.api.get(`/sandbox/instances/${instance.id}/data`)).body).toMatchObject({ data: { orders: 0 } });
  expect((await me.api.get(`/backups/${backup.id}`)).as(Backup)).toMatchObject({ status: "failed" });
  expect(await admin("find-archives", "--data", dataDir)).toBe("0 backups were completed\n");

  await putArchive(keyOf(backup), bytes.slice(0, -1));
  expect(await admin("find-archives", "--data", dataDir)).toBe("0 backups were completed\n");
  await putArchive(keyOf(backup), bytes);
  expect(await admin("find-archives", "--data", dataDir)).toBe(`${backup.id} can be restored again\n1 backups were completed\n`);
  expect(await admin("find-archives", "--data", dataDir)).toBe("0 backups were completed\n");
  expect((await me.api.get(`/backups/${backup.id}`)).as(Backup)).toMatchObject({ status: "completed", status_reason: null });
  expect((await me.api.get(`/instances/${instance.id}`)).as(Instance)).toMatchObject({
    protection: { last_backup_at: backup.completed_at },
  });
  const again = (await me.api.post(`/backups/${backup.id}/restore`, { backup_first: false })).as(Operation);
  await me.until(again.id);
  expect((await me.api.get(`/sandbox/instances/${instance.id}/data`)).body).toMatchObject({ data: ORDERS });
});

const tableOf = (of: Cloud): DynamoDBClient =>
  new DynamoDBClient({ endpoint: of.awsUrl, region: "us-east-1", credentials: { ...of.operator } });
async function hostsKeyOf(of: Cloud): Promise<string | undefined> {
  const client = new SecretsManagerClient({ endpoint: of.awsUrl, region: "us-east-1", credentials: { ...of.operator } });
  const SecretId = variableOf(of.template, "HOSTS_KEY");
  return (await client.send(new GetSecretValueCommand({ SecretId }))).SecretString;
}
