// Clients that other tools generate from the description compile under TypeScript's strictest options, and their calls work.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { generateSource } from "oazapfts";
import { generateApi } from "swagger-typescript-api";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { openapiDocument } from "../../shared/api/openapi/describe.ts";
import { account, newPublicKey, unique, uniqueDatabase, uniqueDomain } from "../harness/account.ts";
import { apiUrl } from "../harness/cloud.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** The same calls with either client: a server, an instance on it, a backup, its restore. Returns the last operation's status. */
const WALK = `
export async function walk({ baseUrl, token, words }: { baseUrl: string; token: string; words: Record<"key" | "name" | "database" | "domain", string> }): Promise<string> {
  CLIENT
  const done = async (id: string | null): Promise<string> => {
    if (id === null) throw new Error("Nothing was begun");
    for (;;) {
      const { status } = await operation(id);
      if (status === "succeeded" || status === "failed") return status;
    }
  };
  const key = await addKey({ name: words.name, public_key: words.key });
  const server = await addServer({ name: words.name, provider: "sandbox", region: "eu-central", size: "small", ssh_key_id: key.id });
  await done(server.operation_id);
  const instance = await addInstance({
    name: words.name, server_id: server.id, erp_version: "19.0", edition: "community",
    database_name: words.database, admin_email: "admin@example.com", domain: words.domain,
  });
  await done(instance.operation_id);
  const backup = await addBackup(instance.id, { note: "walk" });
  await done(backup.operation_id);
  const restore = await restoreBackup(backup.id, { backup_first: false });
  return done(restore.id);
}`;

const CLIENTS = {
  oazapfts: `import * as api from "./client.ts";${WALK.replace(
    "CLIENT",
    `api.defaults.baseUrl = baseUrl;
  api.defaults.headers = { authorization: \`Bearer \${token}\` };
  const failed = (response: { status: number }) => new Error(JSON.stringify(response));
  const addKey = async (body: Parameters<typeof api.sshKeysCreate>[0]) => { const response = await api.sshKeysCreate(body); if (response.status !== 201) throw failed(response); return response.data.data; };
  const addServer = async (body: Parameters<typeof api.serversCreate>[0]) => { const response = await api.serversCreate(body); if (response.status !== 201) throw failed(response); return response.data.data; };
  const addInstance = async (body: Parameters<typeof api.instancesCreate>[0]) => { const response = await api.instancesCreate(body); if (response.status !== 201) throw failed(response); return response.data.data; };
  const addBackup = async (...call: Parameters<typeof api.backupsCreate>) => { const response = await api.backupsCreate(...call); if (response.status !== 201) throw failed(response); return response.data.data; };
  const restoreBackup = async (...call: Parameters<typeof api.backupsRestore>) => { const response = await api.backupsRestore(...call); if (response.status !== 202) throw failed(response); return response.data.data; };
  const operation = async (id: string) => { const response = await api.operationsGet(id, { wait: 10 }); if (response.status !== 200) throw failed(response); return response.data.data; };`,
  )}`,
  "swagger-typescript-api": `import { Api } from "./client.ts";${WALK.replace(
    "CLIENT",
    `const api = new Api({ baseUrl, baseApiParams: { headers: { authorization: \`Bearer \${token}\` } } });
  // This generator types an endpoint by its lowest success, which is that of a dry run.
  const begun = <T>(data: unknown) => data as T;
  const addKey = async (body: Parameters<typeof api.sshKeys.sshKeysCreate>[0]) => (await api.sshKeys.sshKeysCreate(body)).data.data;
  const addServer = async (body: Parameters<typeof api.servers.serversCreate>[0]) => (await api.servers.serversCreate(body)).data.data;
  const addInstance = async (body: Parameters<typeof api.instances.instancesCreate>[0]) => begun<{ id: string; operation_id: string | null }>((await api.instances.instancesCreate(body)).data.data);
  const addBackup = async (...call: Parameters<typeof api.instances.backupsCreate>) => (await api.instances.backupsCreate(...call)).data.data;
  const restoreBackup = async (id: string, body: Parameters<typeof api.backups.backupsRestore>[2]) => begun<{ id: string }>((await api.backups.backupsRestore(id, {}, body)).data.data);
  const operation = async (id: string) => (await api.operations.operationsGet(id, { wait: 10 })).data.data;`,
  )}`,
};

/** A folder inside the project, where the clients find their imports. */
let folder = "";
beforeAll(async () => {
  await mkdir(join(ROOT, ".local"), { recursive: true });
  folder = await mkdtemp(join(ROOT, ".local", "clients-"));
  const description = join(folder, "openapi.json");
  await writeFile(description, JSON.stringify(openapiDocument("test")));
  for (const [name, walk] of Object.entries(CLIENTS)) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, "walk.ts"), walk);
  }
  await writeFile(join(folder, "oazapfts", "client.ts"), await generateSource(description));
  await generateApi({
    input: description,
    output: join(folder, "swagger-typescript-api"),
    fileName: "client.ts",
    cleanOutput: false,
    silent: true,
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const STRICT = {
  strict: true,
  noEmit: true,
  module: "nodenext",
  target: "es2023",
  lib: ["es2023", "dom", "dom.iterable"],
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  types: [],
};

test("the generated clients compile", async () => {
  const files = Object.keys(CLIENTS).map((name) => join(name, "walk.ts"));
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: STRICT, files }));
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, "-p", folder]).catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
});

const Walk = z.object({
  walk: z.custom<(about: { baseUrl: string; token: string; words: Record<string, string> }) => Promise<string>>(
    (value) => typeof value === "function",
  ),
});

test.each(Object.keys(CLIENTS))(
  "the client generated by %s creates a server, an instance and a backup, and restores it",
  async (name) => {
    const me = await account();
    const { walk } = Walk.parse(await import(pathToFileURL(join(folder, name, "walk.ts")).href));
    const words = { key: newPublicKey(), name: unique("walk"), database: uniqueDatabase(), domain: uniqueDomain() };
    expect(await walk({ baseUrl: `${apiUrl()}/api/v1`, token: me.api.token ?? "", words })).toBe("succeeded");
  },
);
