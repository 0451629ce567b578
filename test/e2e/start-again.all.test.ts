// `npm start` after it was killed or stopped, twice at once, with `--reset`, and in live.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import * as z from "zod";
import { freePort } from "../harness/free-port.ts";
import { unique, uniqueDomain } from "../harness/unique.ts";
import type { Started } from "./product.ts";
import {
  begin,
  call,
  dataDir,
  Demo,
  demo,
  type Ended,
  instanceBody,
  make,
  Operation,
  port,
  product,
  Resource,
  serverBody,
  stop,
  until,
  up,
} from "./started.ts";

afterEach(() => product.killAll());

test("npm start that was killed during operations resumes them: every operation ends and nothing stays locked", async () => {
  let started = await up();
  const server = await make("/servers", serverBody(unique("first")));
  const instances: Resource[] = [];
  for (const name of ["one", "two", "three", "four"]) instances.push(await make("/instances", instanceBody(name, server.id)));
  const [one, two, three, four] = z.tuple([Resource, Resource, Resource, Resource]).parse(instances);
  const [ofOne, ofTwo] = [await make(`/instances/${one.id}/backups`, {}), await make(`/instances/${two.id}/backups`, {})];
  /** A backup of one instance, a restore into another, and a new resource of each kind. */
  const work = async (name: string, backedUp: Resource, restored: Resource, from: Resource): Promise<string[]> => {
    const responses = await Promise.all([
      call("POST", "/servers", serverBody(unique(name))),
      call("POST", "/instances", instanceBody(`${name}new`, server.id)),
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
  const nearlyDone = await work("first", three, one, ofOne);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const hardlyBegun = await work("second", four, two, ofTwo);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await started.kill();
  started = await up();
  const ended: Ended[] = [];
  // One at a time: a credential can have three waits.
  for (const each of [...nearlyDone, ...hardlyBegun]) ended.push(await until(each));
  expect(ended.map(({ type, status, error }) => ({ type, status, error }))).toEqual(
    ended.map(({ type }) => ({ type, status: "succeeded", error: null })),
  );
  const unfinished = async (kind: string): Promise<Resource[]> =>
    z
      .array(Resource)
      .parse(await call("GET", `/${kind}?per_page=100`))
      .filter(({ status, operation_id }) => operation_id != null || !["active", "running", "completed"].includes(status));
  // This succeeds at once, unless an earlier try of this test has left work of its own.
  for (const kind of ["servers", "instances", "backups"])
    await expect.poll(() => unfinished(kind), { message: kind }).toEqual([]);
  // What an operation held is free again, too.
  const deletion = Operation.parse(await call("DELETE", `/backups/${ofOne.id}`));
  expect(await until(deletion.id)).toMatchObject({ status: "succeeded" });
  await stop(started);
});

test("a start after Ctrl-C has all data, and earlier download URLs still work", async () => {
  const data = { orders: 3, note: "of the first start" };
  let started = await up();
  const before = demo;
  const server = await make("/servers", serverBody(unique("again")));
  const instance = await make("/instances", instanceBody("again", server.id));
  await call("PUT", `/sandbox/instances/${instance.id}/data`, data);
  const backup = await make(`/instances/${instance.id}/backups`, {});
  const { url } = z.looseObject({ url: z.url() }).parse(await call("GET", `/backups/${backup.id}/download`));
  await stop(started);
  started = await up();
  expect(demo).toEqual(before);
  expect(await call("GET", `/instances/${instance.id}`)).toMatchObject({ status: "running" });
  expect(await call("GET", `/sandbox/instances/${instance.id}/data`)).toEqual(data);
  expect((await fetch(url)).status).toBe(200);
  await stop(started);
});

test("a second npm start on the same data or port fails", async () => {
  const started = await up();
  const instances = await call("GET", "/instances");
  const onPort = begin([], product.newDataDir());
  expect(await onPort.ended).toBe(1);
  expectOneLine(onPort, `Port ${port} is taken`);
  const onData = product.start({ args: ["--data", dataDir], env: { PORT: String(await freePort()) } });
  expect(await onData.ended).toBe(1);
  expectOneLine(onData, "is used by process");
  const onReset = product.start({ args: ["--data", dataDir, "--reset"], env: { PORT: String(await freePort()) } });
  expect(await onReset.ended).toBe(1);
  expectOneLine(onReset, "is used by process");
  expect(await call("GET", "/instances")).toEqual(instances);
  await stop(started);
});

/** What a command shows that asks for a line, in a terminal if this machine has the command that makes one. */
async function shownWhileTyping(cwd: string, command: string, line: string): Promise<string> {
  const args = existsSync("/usr/bin/script") ? ["script", "-qec", command, "/dev/null"] : ["sh", "-c", command];
  const child = spawn("/usr/bin/env", args, { cwd, stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  const read = (chunk: Buffer): void => {
    if (!output.includes("Password") && chunk.includes("Password")) child.stdin.write(`${line}\n`);
    output += chunk.toString();
  };
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  await once(child, "exit");
  return output;
}

test("--reset deletes all data, and nothing in the folder that npm start did not create", async () => {
  const file = join(dataDir, "a file of somebody");
  writeFileSync(file, "kept");
  const before = Demo.parse(JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8")));
  const started = await up(["--reset"]);
  expect(demo.token).not.toBe(before.token);
  expect(await call("GET", "/servers")).toEqual([]);
  expect(await call("GET", "/backups")).toEqual([]);
  expect(readFileSync(file, "utf8")).toBe("kept");
  const old = await fetch(`${demo.base_url}/auth/me`, { headers: { authorization: `Bearer ${before.token}` } });
  expect(old.status).toBe(401);
  await stop(started);
});

test("npm start in live explains how to begin: the key for your own machines, and the command that creates the first account", async () => {
  const at = product.newDataDir();
  // docs/deploy.md tells operators to set up their shells like this.
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
  expect(await shownWhileTyping(product.folder, setPassword, "123456789012")).toContain("one of the most common");
  expect(await statusOf(typed)).toBe(200);
  await started.interrupt();
});

/** One sentence that says what to do, without a stack trace. */
function expectOneLine(started: Started, sentence: string): void {
  const lines = started.stderr().trim().split("\n");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(sentence);
  expect(started.stdout()).not.toMatch(/\n\s+at |Error:/);
}
