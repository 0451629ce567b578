// What customers do in an account: one of everything, some of which fails. It uses only what every release has.
import { createHash } from "node:crypto";
import * as z from "zod";
import type { Service } from "./service.ts";

const Made = z.looseObject({ id: z.string(), operation_id: z.string().nullish() });
const Ended = z.looseObject({ status: z.string() });

export async function work({ api, sshKeyId }: Service, name: string): Promise<void> {
  const until = (id: string | null | undefined, expectedStatus?: string) => waitUntil(api, id, expectedStatus);
  /** Creates something, and waits for what it starts. */
  const create = async (path: string, body: unknown, expectedStatus?: string): Promise<string> => {
    const { id, operation_id } = await api.send(Made, "POST", path, body);
    await until(operation_id, expectedStatus);
    return id;
  };
  /** Starts an operation, and waits for it. */
  const run = async (method: string, path: string, body?: unknown): Promise<void> =>
    until((await api.send(Made, method, path, body)).id);

  const labels = { env: "prod", made: name };
  const machine = { provider: "sandbox", region: "eu-central", size: "small", ssh_key_id: sshKeyId, labels };
  const [server] = await Promise.all([
    create("/servers", { ...machine, name: `${name}-one` }),
    create("/servers", { ...machine, name: `fail-capacity-${name}` }, "failed"),
  ]);
  const erp = (of: string) => ({
    name: `Shop ${of}`,
    server_id: server,
    erp_version: "19.0",
    edition: "community",
    database_name: `${of}_${name}`.replaceAll("-", "_"),
    admin_email: "admin@example.com",
    domain: `${of}.${name}.example.com`,
    labels,
  });
  const [shop, gone] = await Promise.all([create("/instances", erp("shop")), create("/instances", erp("gone"))]);
  const data = `/sandbox/instances/${shop}/data`;
  await api.send(z.unknown(), "PUT", data, { orders: 3 });
  const first = await create(`/instances/${shop}/backups`, { note: "First of the shop" });
  await create(`/instances/${shop}/backups`, { note: "fail-upload" }, "failed");
  await api.send(z.unknown(), "PUT", data, { orders: 4 });
  await api.send(z.unknown(), "PUT", `/backups/${first}`, { locked: true });
  const policy = { schedule: "0 2 * * *", timezone: "Europe/Berlin", keep: { last: 3, daily: 7 }, drill_every_days: 7 };
  await api.send(z.unknown(), "PUT", `/instances/${shop}/backup-policy`, policy);
  await run("POST", `/backups/${first}/drill`);
  await run("POST", `/backups/${first}/restore`, {});
  const restored = await api.send(z.object({ orders: z.number() }), "GET", data);
  if (restored.orders !== 3) throw new Error("The restore did not bring back the backup's data");
  const clone = { name: "Staging", domain: `staging.${name}.example.com`, backup_id: first };
  const stopAndStart = async (): Promise<void> => {
    await run("POST", `/instances/${shop}/actions`, { action: "stop" });
    await run("POST", `/instances/${shop}/actions`, { action: "start" });
  };
  await Promise.all([create(`/instances/${shop}/clone`, clone), stopAndStart(), run("DELETE", `/instances/${gone}`)]);
  await api.send(z.unknown(), "PUT", `/instances/${shop}`, { name: "Shop, renamed", labels: { ...labels, team: "sales" } });
  await upload({ api, server, backup: first, create: (path, body) => create(path, body) });
}

async function waitUntil(api: Service["api"], id: string | null | undefined, expectedStatus = "succeeded"): Promise<void> {
  for (let polls = 0; polls < 9; polls++) {
    const { status } = await api.send(Ended, "GET", `/operations/${id}?wait=20`);
    if (status === expectedStatus) return;
    if (status === "succeeded" || status === "failed") throw new Error(`${id} ${status} instead of ${expectedStatus}`);
  }
  throw new Error(`${id} does not end`);
}

/** What versions from before 1.0.0 do not have: deploys, whose backups are of a new kind, and work on a server's machine. */
export async function deployAndReboot({ api }: Service): Promise<void> {
  const [instance] = await api.send(z.array(Placed), "GET", "/instances?status=running");
  if (instance === undefined) throw new Error("No instance runs");
  await api.send(z.unknown(), "PUT", "/sandbox/repositories/acme", { ref: "main", modules: { acme: "1.0" } });
  const code = { repositories: [{ url: "https://git.example/acme", ref: "main" }], install_modules: ["acme"] };
  await api.send(z.unknown(), "PUT", `/instances/${instance.id}/code`, code);
  await waitUntil(api, (await api.send(Made, "POST", `/instances/${instance.id}/code/check`, {})).id);
  await waitUntil(api, (await api.send(Made, "POST", `/instances/${instance.id}/deploys`, {})).operation_id);
  await waitUntil(api, (await api.send(Made, "POST", `/servers/${instance.server_id}/actions`, { action: "reboot" })).id);
}
const Placed = z.looseObject({ id: z.string(), server_id: z.string() });

/** The same for bulk actions. */
export async function runBulkAction({ api }: Service): Promise<void> {
  const [instance] = await api.send(z.array(Made), "GET", "/instances?status=running");
  const parameters = { add: { selected: "yes" } };
  const { id } = await api.send(Made, "POST", "/bulk", { action: "set_labels", select: { ids: [instance?.id] }, parameters });
  await waitUntil(api, id);
}

interface Uploading {
  api: Service["api"];
  server: string;
  backup: string;
  create: (path: string, body: unknown) => Promise<string>;
}

/** Moves in with the archive of a backup. */
async function upload({ api, server, backup, create }: Uploading): Promise<void> {
  const { url } = await api.send(z.object({ url: z.string() }), "GET", `/backups/${backup}/download`);
  const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const { id } = await api.send(Made, "POST", "/backups/uploads", { size_bytes: bytes.length, note: "Moved in" });
  const Parts = z.object({ parts: z.array(z.object({ url: z.string(), headers: z.record(z.string(), z.string()) })) });
  const { parts } = await api.send(Parts, "POST", `/backups/uploads/${id}/parts`, { parts: [{ number: 1, sha256 }] });
  for (const part of parts) await fetch(part.url, { method: "PUT", headers: part.headers, body: bytes });
  await create(`/backups/uploads/${id}/complete`, { sha256, server_id: server });
}
