// The service of any version of the code, in a process of its own, on a folder of data.
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type AttributeValue, BatchWriteItemCommand, paginateScan } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { writeAccess } from "../../infra/local/access.ts";
import { tableOf } from "../harness/table.ts";

export type StoredItem = Record<string, AttributeValue>;

interface VersionOptions {
  /** The folder of the code, with its dependencies. */
  folder: string;
  dataDir: string;
  /** Functions of another version: the folder of each one's bundle. */
  swapped?: Readonly<Record<string, string>>;
  /** What the table has before anything uses it. */
  items?: readonly StoredItem[];
}

const Started = z.object({ bundles: z.string(), environment: z.record(z.string(), z.string()) });
const Ready = z.object({
  base_url: z.string(),
  email: z.string(),
  password: z.string(),
  ssh_key_id: z.string(),
  said: z.array(z.string()),
});

export interface Service {
  api: Api;
  sshKeyId: string;
  /** What its migrations reported. */
  migrationLines: readonly string[];
  /** The folder of its bundles. */
  bundles: string;
  items: () => Promise<StoredItem[]>;
  /** Runs a command of the operator on it. */
  admin: (...args: string[]) => Promise<string>;
  /** What its functions have logged as errors, since the folder of data was made. */
  errors: () => string[];
  stop: () => Promise<void>;
}

export async function startService({ folder, dataDir, swapped = {}, items = [] }: VersionOptions): Promise<Service> {
  const child = fork(join(import.meta.dirname, "serve.mjs"), [JSON.stringify({ folder, dataDir, swapped })], {
    cwd: folder,
    env: Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(?:AWS_|VITEST|TABLE_NAME|ENVIRONMENT$)/.test(name)),
    ),
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const failed = once(child, "exit").then(() => Promise.reject(new Error(`The service of ${folder} ended: ${stderr}`)));
  failed.catch(() => undefined);
  const next = async (): Promise<unknown> => (await Promise.race([once(child, "message"), failed]))[0];
  const { bundles, environment } = Started.parse(await next());
  const { client, table } = tableOf(environment);
  for (let from = 0; from < items.length; from += 25) {
    const puts = items.slice(from, from + 25).map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: puts } }));
  }
  child.send("ready");
  const ready = Ready.parse(await next());
  return {
    api: apiOf(ready),
    sshKeyId: ready.ssh_key_id,
    migrationLines: ready.said,
    bundles,
    items: async () => {
      const items: StoredItem[] = [];
      for await (const page of paginateScan({ client }, { TableName: table, ConsistentRead: true }))
        items.push(...(page.Items ?? []));
      return items;
    },
    admin: async (...args) => {
      writeAccess(dataDir, environment);
      return (await promisify(execFile)(process.execPath, [join(folder, "infra", "admin.ts"), ...args, "--data", dataDir]))
        .stdout;
    },
    errors: () =>
      globSync(join(dataDir, "logs", "*")).flatMap((file) =>
        readFileSync(file, "utf8")
          .split("\n")
          .filter((line) => line.includes('"level":"ERROR"')),
      ),
    stop: async () => {
      if (child.exitCode !== null) return;
      child.disconnect();
      await once(child, "exit");
    },
  };
}

const Envelope = z.object({
  success: z.boolean(),
  data: z.unknown().optional(),
  error: z.unknown().optional(),
  meta: z.looseObject({ total: z.number().optional(), next_cursor: z.string().nullish() }).optional(),
});
export type Response = z.infer<typeof Envelope> & { status: number };

/** Requests of a user, with as many tokens as their rate limits ask for. */
interface Api {
  request: (method: string, path: string, body?: unknown) => Promise<Response>;
  /** The data of a request that must succeed. */
  send: <T>(schema: z.ZodType<T>, method: string, path: string, body?: unknown) => Promise<T>;
}

/** Fewer than the 20 creations and the 100 requests that a token has in a minute. */
const TOKEN_REQUESTS = 90;
const TOKEN_CREATIONS = 15;
/** Only a session may see and create tokens, and see sessions. */
const OF_SESSION = /^\/(?:tokens|auth\/sessions)\b/;

const TRIES_MAX = 3;

function apiOf({ base_url, email, password }: z.infer<typeof Ready>): Api {
  const call = async (credential: string | undefined, method: string, path: string, body?: unknown): Promise<Response> => {
    const headers = {
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    };
    for (let tries = 1; ; tries++) {
      const response = await fetch(`${base_url}${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      // A busy machine takes too long for some requests.
      const isTriedAgain = response.status === 503 && method === "GET" && tries < TRIES_MAX;
      if (response.status === 429 || isTriedAgain) await sleep(1000 * Number(response.headers.get("retry-after") ?? 1));
      else if (path === "/openapi.json") return { success: true, status: response.status, data: await response.json() };
      else return { ...Envelope.parse(await response.json()), status: response.status };
    }
  };
  const signIn = async (): Promise<string> => {
    const { data } = await call(undefined, "POST", "/auth/login", { email, password });
    return z.object({ token: z.string() }).parse(data).token;
  };
  const session = signIn();
  const newToken = async (): Promise<string> => {
    const me = z.object({ permissions: z.array(z.string()) }).parse((await call(await session, "GET", "/auth/me")).data);
    const body = { name: `Walk ${Date.now()}`, permissions: me.permissions };
    return z.object({ token: z.string() }).parse((await call(await session, "POST", "/tokens", body)).data).token;
  };
  let token = { value: Promise.resolve(""), requests: TOKEN_REQUESTS, creations: 0 };
  const request: Api["request"] = async (method, path, body) => {
    if (OF_SESSION.test(path)) return call(await session, method, path, body);
    if (token.requests >= TOKEN_REQUESTS || token.creations >= TOKEN_CREATIONS)
      token = { value: newToken(), requests: 0, creations: 0 };
    token.requests += 1;
    if (method !== "GET") token.creations += 1;
    return call(await token.value, method, path, body);
  };
  return {
    request,
    send: async (schema, method, path, body) => {
      const { status, success, data, error } = await request(method, path, body);
      if (!success) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(error)}`);
      return schema.parse(data);
    },
  };
}
