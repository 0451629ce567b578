// The live environment on this machine, with the machine as the operator's own, and an account that uses it.
import { createHash } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { bundleIfChanged } from "../../infra/bundle.ts";
import { startCloud, variableOf } from "../../infra/local/cloud.ts";
import { demoAccount } from "../../infra/local/demo.ts";
import { prepareLive } from "../../infra/local/live.ts";
import { synthIfChanged } from "../../infra/local/template/synthesized.ts";
import { stackName } from "../../infra/settings.ts";
import { type Client, ClientError, createClient } from "../../shared/api/client.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { putArchive } from "../../shared/storage/archives.ts";
import type { Operation } from "../../shared/api/operations.ts";
import { MIRROR } from "./image-registry.ts";
import { type Machine, SSH_PORT } from "./machine.ts";

const ENVIRONMENT = "live";
const WAIT_SECONDS = 20;
const OPERATION_MINUTES_MAX = 15;
const GB = 1024 ** 3;

/** The ERPs may reach it although it is private. */
export const OPENED_NETWORK = "192.168.78.0/24";

/** The instance for all checks. */
export const SHOP = {
  name: "Shop",
  erp_version: "19.0",
  edition: "community",
  database_name: "shop",
  admin_email: "admin@example.com",
  domain: "shop.example.com",
} as const;

export interface Service {
  client: Client;
  /** The body of a request for a server on the machine. */
  serverBody: { name: string; provider: string; region: string; size: string; ssh_key_id: string };
  /** Waits for the operation's end, whatever the result. */
  end: (operationId: string | null) => Promise<Operation>;
  /** Checks all servers, as the schedule does. */
  check: () => Promise<void>;
  /** The same for what was pushed, and for the newest images. */
  deployPushes: () => Promise<void>;
  lookUpImages: () => Promise<void>;
  /** The names of all objects in the store. */
  stored: () => Promise<string[]>;
  /** Changes exactly one byte in the middle of an object. */
  damage: (key: string) => Promise<void>;
  /** Puts another archive in the place of a backup's, as if the backup had made it. */
  replace: (key: string, bytes: Buffer) => Promise<void>;
  /** The logs of the service's functions. */
  logs: string;
  stop: () => Promise<void>;
}

/** `timeScale` multiplies the waits of the deployed service, as between its polls. */
export async function startService(machine: Machine, folder: string, { timeScale }: { timeScale: number }): Promise<Service> {
  const dataDir = join(folder, "service");
  mkdirSync(dataDir, { recursive: true });
  const byo = {
    name: "this-machine",
    address: "127.0.0.1",
    port: SSH_PORT,
    host_key: machine.hostKey,
    cpu: cpus().length,
    memory_gb: Math.max(1, Math.floor(totalmem() / GB)),
    disk_gb: 40,
    firewall: false,
  };
  const outDir = await synthIfChanged(await bundleIfChanged(), [ENVIRONMENT]);
  const cloud = await startCloud({
    outDir,
    stack: stackName(ENVIRONMENT),
    dataDir,
    configuration: { byo: { machines: [byo] }, tls: "internal", open_networks: [OPENED_NETWORK], registry: { mirror: MIRROR } },
    timeScale,
    schedules: false,
  });
  const HOSTS_KEY = variableOf(cloud.template, "HOSTS_KEY") ?? "";
  Object.assign(process.env, cloud.operator.environment, { TABLE_NAME: cloud.tableName, ENVIRONMENT, HOSTS_KEY });
  machine.admit((await prepareLive(cloud)).serviceKey);
  const demo = await demoAccount(dataDir, cloud.apiUrl, ENVIRONMENT);
  const client = createClient({ baseUrl: demo.base_url, token: () => demo.token, fetch: patient });
  const provider = (await client.catalog.get()).data.providers.find(({ code }) => code === "byo");
  const offer = { provider: "byo", region: provider?.regions[0]?.code ?? "", size: provider?.sizes[0]?.code ?? "" };
  const s3 = new S3Client({ forcePathStyle: true });
  const Bucket = variableOf(cloud.template, "BACKUP_BUCKET") ?? "";
  process.env["BACKUP_BUCKET"] = Bucket;
  return {
    client,
    serverBody: { name: "own", ...offer, ssh_key_id: demo.ssh_key_id },
    end: (operationId) => end(client, operationId),
    check: () => cloud.events.fire("checkservers"),
    deployPushes: () => cloud.events.fire("runpolicies"),
    lookUpImages: () => cloud.events.fire("refreshcatalog"),
    stored: async () => ((await s3.send(new ListObjectsV2Command({ Bucket }))).Contents ?? []).map(({ Key = "" }) => Key),
    damage: async (Key) => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      const bytes = await Body?.transformToByteArray();
      if (bytes === undefined) throw new Error(`${Key} has no content`);
      const middle = Math.floor(bytes.length / 2);
      await s3.send(
        new PutObjectCommand({ Bucket, Key, Body: bytes.map((byte, index) => (index === middle ? byte ^ 0xff : byte)) }),
      );
    },
    replace: async (key, bytes) => {
      const [, accountId = "", id = ""] = /^accounts\/(.+)\/backups\/(.+)\.zip$/.exec(key) ?? [];
      const stored_checksum = await putArchive(key, bytes);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      // The record is as if the service had made the archive: by now no operation holds the backup.
      const set = { size_bytes: bytes.length, sha256, stored_checksum, missing_files: 0, skipped_files: 0 };
      await updateOne(keys.record("backup", accountId, id), { set }, {});
    },
    logs: join(dataDir, "logs"),
    stop: async () => {
      s3.destroy();
      await cloud.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Requests beyond a limit wait as the response says. What only reads is tried twice: the service runs in this process, and while
 * a command blocks both, its end of an idle connection closes.
 */
const patient: typeof fetch = async (input, init) => {
  const response = await fetch(input, init).catch((error: unknown) => {
    if ((init?.method ?? "GET") !== "GET") throw error;
    return fetch(input, init);
  });
  if (response.status !== 429) return response;
  await sleep(Number(response.headers.get("retry-after") ?? 1) * 1000);
  return patient(input, init);
};

async function end(client: Client, operationId: string | null): Promise<Operation> {
  if (operationId === null) throw new Error("There is no operation to wait for");
  const limit = Date.now() + OPERATION_MINUTES_MAX * 60_000;
  while (Date.now() < limit) {
    const { data } = await client.operations.get({ params: { id: operationId }, query: { wait: WAIT_SECONDS } });
    if (data.status === "succeeded" || data.status === "failed") return data;
  }
  throw new Error(`The operation ${operationId} has not ended after ${OPERATION_MINUTES_MAX} minutes`);
}

/** Whether the API says that the resource does not exist (any more). */
export async function isGone(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return false;
  } catch (error) {
    if (error instanceof ClientError && error.status === 404) return true;
    throw error;
  }
}
