// A user of the packaged product: `npm start` in a new folder, and what the README promises.
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { freePort } from "../harness/free-port.ts";
import { unique, uniqueDatabase, uniqueDomain } from "../harness/unique.ts";
import { copyProduct, isAlive, listeners, type Product, type Started } from "./product.ts";

// The first start builds everything; on a busy machine that takes minutes.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const Demo = z.object({
  base_url: z.url(),
  dashboard_url: z.url(),
  email: z.email(),
  password: z.string(),
  token: z.string(),
  ssh_key_id: z.string(),
});
type Demo = z.infer<typeof Demo>;

const Envelope = z.object({ success: z.boolean(), data: z.unknown().optional(), error: z.unknown().optional() });
const Resource = z.looseObject({ id: z.string(), status: z.string(), operation_id: z.string().nullish() });
type Resource = z.infer<typeof Resource>;
const Operation = z.looseObject({ id: z.string(), type: z.string(), status: z.string(), error: z.unknown() });

let product: Product;
let port: number;
let dataDir: string;
let demo: Demo;

beforeAll(async () => {
  product = copyProduct();
  port = await freePort();
  dataDir = product.newDataDir();
});
afterAll(async () => {
  await product.killAll();
  product.remove();
});

const begin = (more: readonly string[] = [], at = dataDir): Started =>
  product.start({ args: ["--data", at, ...more], env: { PORT: String(port) } });

async function up(more: readonly string[] = [], at = dataDir): Promise<Started> {
  const started = begin(more, at);
  await started.ready();
  demo = Demo.parse(JSON.parse(readFileSync(join(at, "demo.json"), "utf8")));
  return started;
}

async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${demo.base_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${demo.token}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const envelope = Envelope.parse(await response.json());
  if (!envelope.success) throw new Error(`${method} ${path} → ${response.status} ${JSON.stringify(envelope.error)}`);
  return envelope.data;
}

const LONG_POLLS = 9;
type Ended = z.infer<typeof Operation>;
async function until(id: string | null | undefined): Promise<Ended> {
  for (let poll = 0; poll < LONG_POLLS; poll++) {
    const operation = Operation.parse(await call("GET", `/operations/${id}?wait=20`));
    if (["succeeded", "failed"].includes(operation.status)) return operation;
  }
  throw new Error(`${id} does not end`);
}

/** Some seconds, on a machine that does much else. With the pace of real machines it would be minutes. */
const READY_SECONDS = 90;

/** Creates a resource and waits until it is ready. */
async function make(path: string, body: unknown): Promise<Resource> {
  const made = Resource.parse(await call("POST", path, body));
  const began = performance.now();
  expect(await until(made.operation_id)).toMatchObject({ status: "succeeded" });
  expect(performance.now() - began, `milliseconds for ${path}`).toBeLessThan(READY_SECONDS * 1000);
  return made;
}

const serverBody = (name: string) => ({
  name,
  provider: "sandbox",
  region: "eu-central",
  size: "small",
  ssh_key_id: demo.ssh_key_id,
});
const instanceBody = (name: string, server_id: string) => ({
  name,
  server_id,
  erp_version: "19.0",
  edition: "community",
  database_name: uniqueDatabase(name),
  admin_email: "admin@example.com",
  domain: uniqueDomain(name),
});

/** Stops it as Ctrl-C does; afterwards no process of it is left, and its port is free. */
async function stop(started: Started): Promise<void> {
  const pids = started.processes();
  expect(pids.length).toBeGreaterThanOrEqual(4); // npm, its script, the service, Java
  await started.interrupt();
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 60_000 });
  await expect(fetch(`http://127.0.0.1:${port}/api/v1/health`)).rejects.toThrow("fetch failed");
  expect(existsSync(join(dataDir, "lock"))).toBe(false);
}

describe("a first start, and later starts with its data", () => {
  afterAll(() => product.killAll());

  const DATA = { orders: 3, note: "of the first start" };
  let started: Started;
  let instance: Resource;
  let clone: Resource;
  let backup: Resource;
  beforeAll(async () => {
    started = await up();
  });
  // An earlier try of a test may have stopped it.
  beforeEach(async () => {
    if (!isAlive(started.pid)) started = await up();
  });

  test("npm start prints the URL and the sign-in, and stores them in a file that only its owner can read", async () => {
    const said = started.stdout();
    for (const fact of [demo.base_url, demo.email, demo.password, demo.token]) expect(said).toContain(fact);
    expect(demo.base_url).toBe(`http://127.0.0.1:${port}/api/v1`);
    expect(started.stderr()).toBe("");
    for (const file of ["demo.json", "access.json", "local-secret"])
      expect(statSync(join(dataDir, file)).mode & 0o077, file).toBe(0);
    expect((await fetch(new URL("docs", demo.dashboard_url))).status).toBe(200);
  });

  test("npm start prints curl commands that work as pasted", () => {
    const lines = started.stdout().match(/^curl .+$/gm) ?? [];
    expect(lines.length).toBeGreaterThanOrEqual(3);
    for (const line of lines) {
      const response = execFileSync("bash", ["-c", line], { encoding: "utf8" });
      expect(Envelope.parse(JSON.parse(response)).success, line).toBe(true);
    }
  });

  test("npm start listens on 127.0.0.1 only, with every part", () => {
    const addresses = listeners(started.processes());
    expect(addresses.length).toBeGreaterThanOrEqual(3); // the gateway, the local AWS, DynamoDB Local
    // 127.0.0.1 in the format of /proc, for IPv4 and mapped into IPv6
    const foreign = addresses.filter((address) => !/^(0100007F|0000000000000000FFFF00000100007F):[0-9A-F]{4}$/.test(address));
    expect(foreign).toEqual([]);
    expect(addresses.some((address) => address.endsWith(`:${port.toString(16).toUpperCase().padStart(4, "0")}`))).toBe(true);
  });

  test("a user gets from a server to a clone within seconds per step, and can keep the archive", async () => {
    const login = await fetch(`${demo.base_url}/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: demo.email, password: demo.password }),
    });
    expect(login.status).toBe(200);
    const server = await make("/servers", serverBody(unique("first")));
    instance = await make("/instances", instanceBody("shop", server.id));
    await call("PUT", `/sandbox/instances/${instance.id}/data`, DATA);
    backup = await make(`/instances/${instance.id}/backups`, { note: "of the walk" });
    await call("PUT", `/sandbox/instances/${instance.id}/data`, { gone: true });
    expect(await until(Operation.parse(await call("POST", `/backups/${backup.id}/restore`, {})).id)).toMatchObject({
      status: "succeeded",
    });
    expect(await call("GET", `/sandbox/instances/${instance.id}/data`)).toEqual(DATA);
    const copy = { name: "Copy", domain: uniqueDomain("copy"), backup_id: backup.id };
    clone = await make(`/instances/${instance.id}/clone`, copy);
    expect(await call("GET", `/sandbox/instances/${clone.id}/data`)).toEqual(DATA);
    const { sha256 } = z.looseObject({ sha256: z.string() }).parse(await call("GET", `/backups/${backup.id}`));
    const { url } = z.object({ url: z.url(), expires_at: z.string() }).parse(await call("GET", `/backups/${backup.id}/download`));
    const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
    expect(Object.keys(unzipSync(bytes))).toEqual(expect.arrayContaining(["dump.sql", "manifest.json"]));
  });

  test("a second npm start on the same data or port fails", async () => {
    const onPort = begin([], product.newDataDir());
    expect(await onPort.ended).toBe(1);
    expectOneLine(onPort, `Port ${port} is taken`);
    const onData = product.start({ args: ["--data", dataDir], env: { PORT: String(await freePort()) } });
    expect(await onData.ended).toBe(1);
    expectOneLine(onData, "is used by process");
    const onReset = product.start({ args: ["--data", dataDir, "--reset"], env: { PORT: String(await freePort()) } });
    expect(await onReset.ended).toBe(1);
    expectOneLine(onReset, "is used by process");
    expect(await call("GET", `/instances/${instance.id}`)).toMatchObject({ status: "running" });
  });

  test("Ctrl-C stops npm start completely; the next start has all data, and earlier download URLs still work", async () => {
    const { url } = z.looseObject({ url: z.url() }).parse(await call("GET", `/backups/${backup.id}/download`));
    const before = demo;
    await stop(started);
    started = await up();
    expect(demo).toEqual(before);
    expect(await call("GET", `/instances/${instance.id}`)).toMatchObject({ status: "running" });
    expect(await call("GET", `/sandbox/instances/${instance.id}/data`)).toEqual(DATA);
    expect((await fetch(url)).status).toBe(200);
  });

  test("npm start that was killed during operations resumes them: every operation ends and nothing stays locked", async () => {
    const spare: Resource[] = await Promise.all(
      ["three", "four"].map((name) => make("/instances", instanceBody(name, z.string().parse(instance["server_id"])))),
    );
    const [three, four] = z.tuple([Resource, Resource]).parse(spare);
    const [ofInstance, ofClone] = [
      await make(`/instances/${instance.id}/backups`, {}),
      await make(`/instances/${clone.id}/backups`, {}),
    ];
    /** A backup of one instance, a restore into another, and a new resource of each kind. */
    const work = async (name: string, backedUp: Resource, restored: Resource, from: Resource): Promise<string[]> => {
      const responses = await Promise.all([
        call("POST", "/servers", serverBody(unique(name))),
        call("POST", "/instances", instanceBody(`${name}new`, z.string().parse(instance["server_id"]))),
        call("POST", `/instances/${backedUp.id}/backups`, {}),
        call("POST", `/backups/${from.id}/restore`, {}),
        call("POST", `/instances/${restored.id}/clone`, {
          name: `${name} copy`,
          domain: uniqueDomain(`${name}-copy`),
          backup_id: from.id,
        }),
      ]);
      return responses.map((response) => {
        const { id, operation_id } = z.looseObject({ id: z.string(), operation_id: z.string().nullish() }).parse(response);
        return operation_id ?? id;
      });
    };
    // Killed when some operations have nearly ended and some have hardly started.
    const nearlyDone = await work("first", three, instance, ofInstance);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const hardlyBegun = await work("second", four, clone, ofClone);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await started.kill();
    started = await up();
    const ended: Ended[] = [];
    for (const each of [...nearlyDone, ...hardlyBegun]) ended.push(await until(each)); // one at a time: a credential can have three waits
    expect(ended.map(({ type, status, error }) => ({ type, status, error }))).toEqual(
      ended.map(({ type }) => ({ type, status: "succeeded", error: null })),
    );
    const unfinished = async (kind: string): Promise<Resource[]> =>
      z
        .array(Resource)
        .parse(await call("GET", `/${kind}?per_page=100`))
        .filter(({ status, operation_id }) => operation_id != null || !["active", "running", "completed"].includes(status));
    // At once, unless an earlier try of this test has left work of its own.
    for (const kind of ["servers", "instances", "backups"])
      await expect.poll(() => unfinished(kind), { message: kind }).toEqual([]);
    // What an operation held is free again, too.
    const deletion = Operation.parse(await call("DELETE", `/backups/${ofInstance.id}`));
    expect(await until(deletion.id)).toMatchObject({ status: "succeeded" });
    await stop(started);
  });
});

/** One sentence that says what to do, without a stack trace. */
function expectOneLine(started: Started, sentence: string): void {
  const lines = started.stderr().trim().split("\n");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(sentence);
  expect(started.stdout()).not.toMatch(/\n\s+at |Error:/);
}

/** What a command shows that asks for a line, in a terminal if this machine has the command that makes one. */
async function shownWhileTyping(cwd: string, command: string, line: string): Promise<string> {
  const args = existsSync("/usr/bin/script") ? ["script", "-qec", command, "/dev/null"] : ["sh", "-c", command];
  const child = spawn("/usr/bin/env", args, { cwd, stdio: ["pipe", "pipe", "pipe"] });
  let shown = "";
  const read = (chunk: Buffer): void => {
    if (!shown.includes("Password") && chunk.includes("Password")) child.stdin.write(`${line}\n`);
    shown += chunk.toString();
  };
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  await once(child, "exit");
  return shown;
}

describe("a start by itself", () => {
  afterEach(() => product.killAll());

  test("--reset deletes all data, and nothing in the folder that npm start did not create", async () => {
    const own = join(dataDir, "a file of somebody");
    writeFileSync(own, "kept");
    const before = Demo.parse(JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8")));
    const started = await up(["--reset"]);
    expect(demo.token).not.toBe(before.token);
    expect(await call("GET", "/servers")).toEqual([]);
    expect(await call("GET", "/backups")).toEqual([]);
    expect(readFileSync(own, "utf8")).toBe("kept");
    const old = await fetch(`${demo.base_url}/auth/me`, { headers: { authorization: `Bearer ${before.token}` } });
    expect(old.status).toBe(401);
    await stop(started);
  });

  test("npm start in live explains how to begin: the key for your own machines, and the command that creates the first account", async () => {
    const at = product.newDataDir();
    // As docs/deploy.md tells operators to set up their shells.
    const shell = { AWS_PROFILE: "nobody", AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:1" };
    const env = { PORT: String(await freePort()), TLS: "internal", ...shell };
    const started = product.start({ args: ["--environment", "live", "--data", at], env });
    await started.ready();
    const output = started.stdout();
    const admin = (command: string): string =>
      execFileSync("sh", ["-c", command], {
        cwd: product.folder,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
        env: { ...process.env, ...shell },
      });
    for (const folder of ["dynamodb", "s3", "executions", "logs"]) expect(statSync(join(at, folder)).mode & 0o777).toBe(0o700);
    const [key = ""] = /^ssh-ed25519 AAAA\S+ \S+$/m.exec(output) ?? [];
    expect(admin(`npm run --silent admin -- service-key --data '${at}'`).trim()).toBe(key);
    const [command = ""] = /^npm run admin -- create-account .*$/m.exec(output) ?? [];
    const [, password = ""] = /^Password (\S+)/m.exec(admin(command)) ?? [];
    const [, api = ""] = /^ *API +(\S+)$/m.exec(output) ?? [];
    const signIn = { method: "POST", headers: { "content-type": "application/json" } };
    const statusOf = async (typed: string): Promise<number> => {
      const body = JSON.stringify({ email: "me@example.com", password: typed });
      return (await fetch(`${api}/auth/login`, { ...signIn, body })).status;
    };
    expect(await statusOf(password)).toBe(200);
    const typed = "what an operator types";
    const setPassword = `npm run --silent admin -- set-password --email me@example.com --ask-password --data '${at}'`;
    expect(await shownWhileTyping(product.folder, setPassword, typed)).not.toContain(typed);
    expect(await statusOf(typed)).toBe(200);
    await started.interrupt();
  });
});
