// `npm start` that cannot start says what to do, and changes nothing.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { freePort } from "../harness/free-port.ts";
import { commandsWithout, copyProduct, isAlive, type Product } from "./product.ts";

// The first start builds everything; on a busy machine that takes minutes.

let product: Product;
beforeAll(() => {
  product = copyProduct();
});
afterAll(async () => {
  await product.killAll();
  product.remove();
});

describe("a failed start, which prints what to do in one line and exits with 1", () => {
  afterEach(() => product.killAll());

  async function expectRejected(options: Parameters<Product["start"]>[0], sentence: string | RegExp): Promise<void> {
    const started = product.start(options);
    const pids = started.processes();
    expect(await started.ended).toBe(1);
    const lines = started.stderr().trim().split("\n");
    expect(lines, started.stderr()).toHaveLength(1);
    expect(lines[0]).toMatch(sentence);
    expect(lines[0]).not.toMatch(/^\w*Error:|\bat /);
    expect(pids.filter(isAlive)).toEqual([]);
  }
  const env = async () => ({ PORT: String(await freePort()) });

  test("npm start fails if the port is taken", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port: PORT } = z.object({ port: z.number() }).parse(server.address());
    await expectRejected(
      { args: ["--data", product.newDataDir()], env: { PORT: String(PORT) } },
      /^Port \d+ is taken: .*PORT=\d+ npm start/,
    );
    server.close();
  });

  test("npm start fails if a transaction takes no whole number of milliseconds", async () => {
    await expectRejected({ env: { TRANSACTION_MILLISECONDS: "0.5" } }, "TRANSACTION_MILLISECONDS is");
  });

  test.each(["abc", "65536"])("npm start fails if PORT is %s", async (PORT) => {
    await expectRejected({ env: { PORT } }, "PORT is");
  });

  test("npm start fails if an option is unknown", async () => {
    await expectRejected({ args: ["--rest"] }, /--reset.*--data DIR/);
  });

  test("npm start fails without Java", async () => {
    const at = product.newDataDir();
    const PATH = commandsWithout(product, "java");
    await expectRejected(
      { args: ["--data", at], env: { ...(await env()), PATH, JAVA_HOME: "" } },
      /^Java 17 or later is needed .*install/,
    );
  });

  test("npm start fails if the data folder is a file", async () => {
    const file = product.newDataDir();
    writeFileSync(file, "not a folder");
    await expectRejected({ args: ["--data", file], env: await env() }, /choose another with --data|cannot be/);
    expect(readFileSync(file, "utf8")).toBe("not a folder");
  });

  test("npm start fails if the data folder is not writable", async () => {
    const folder = process.getuid?.() === 0 ? "/proc/1/data" : product.newDataDir();
    if (process.getuid?.() !== 0) mkdirSync(folder, { mode: 0o500 });
    await expectRejected({ args: ["--data", folder], env: await env() }, /(cannot be used for data|is not writable).*another/);
  });

  const FOLDERS = ["dynamodb", "s3", "executions", "logs"];
  const FILES = ["secrets.json", "local-secret", "demo.json"];
  test.each([...FOLDERS, ...FILES])("npm start fails if %s in the data folder is broken", async (part) => {
    const at = product.newDataDir();
    mkdirSync(at);
    if (FILES.includes(part)) mkdirSync(join(at, part));
    else writeFileSync(join(at, part), "broken");
    await expectRejected({ args: ["--data", at], env: await env() }, /^The data cannot be used .*--reset.*--data/);
    expect(readdirSync(at)).toEqual([part]); // the error came before the start created or removed anything
  });

  test.each([[], ["--reset"]])("npm start %s fails on the data of another environment, which stays", async (...args) => {
    const at = product.newDataDir();
    mkdirSync(at);
    for (const file of ["local-secret", "secrets.json"]) writeFileSync(join(at, file), "[]");
    writeFileSync(join(at, "access.json"), JSON.stringify({ ENVIRONMENT: "live" }));
    await expectRejected(
      { args: ["--data", at, ...args], env: await env() },
      /has the data of the environment live: start it with/,
    );
    expect(readdirSync(at)).toEqual(["access.json", "local-secret", "secrets.json"]);
  });

  test("npm start fails if a part of earlier data is missing, and begins no new one", async () => {
    const at = product.newDataDir();
    mkdirSync(join(at, "dynamodb"), { recursive: true });
    for (const file of ["dynamodb/shared-local-instance.db", "local-secret"]) writeFileSync(join(at, file), "");
    writeFileSync(join(at, "access.json"), JSON.stringify({ ENVIRONMENT: "test" }));
    await expectRejected({ args: ["--data", at], env: await env() }, /secrets\.json is missing: restore it from a backup/);
    expect(existsSync(join(at, "secrets.json"))).toBe(false);
  });

  test.each([[], ["--reset"]])("npm start %s fails in a folder of somebody else, and changes nothing there", async (...args) => {
    const at = product.newDataDir();
    mkdirSync(join(at, "logs"), { recursive: true });
    writeFileSync(join(at, "logs", "mine.log"), "kept");
    const mode = statSync(join(at, "logs")).mode;
    await expectRejected({ args: ["--data", at, ...args], env: await env() }, /logs is not of this service: choose another/);
    expect(readdirSync(at, { recursive: true })).toEqual(["logs", join("logs", "mine.log")]);
    expect(statSync(join(at, "logs")).mode).toBe(mode);
  });

  test.each(["secrets.json", "demo.json"])("npm start fails if %s in the data folder is truncated", async (file) => {
    const at = product.newDataDir();
    mkdirSync(at);
    writeFileSync(join(at, file), '{"half":');
    await expectRejected({ args: ["--data", at], env: await env() }, /^The data cannot be used .*--reset.*--data/);
    expect(readFileSync(join(at, file), "utf8")).toBe('{"half":');
  });
});
