// `npm start` in a new folder, for tests that use it as its users do.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, vi } from "vitest";
import * as z from "zod";
import { freePort } from "../harness/free-port.ts";
import { uniqueDatabase, uniqueDomain } from "../harness/unique.ts";
import { copyProduct, isAlive, type Product, type Started } from "./product.ts";

// The first start builds everything; on a busy machine that takes minutes.

export const Demo = z.object({
  base_url: z.url(),
  dashboard_url: z.url(),
  email: z.email(),
  password: z.string(),
  token: z.string(),
  ssh_key_id: z.string(),
  identity_provider: z.object({ issuer: z.url(), client_id: z.string(), client_secret: z.string(), domain: z.string() }),
});
type Demo = z.infer<typeof Demo>;

export const Envelope = z.object({ success: z.boolean(), data: z.unknown().optional(), error: z.unknown().optional() });
export const Resource = z.looseObject({ id: z.string(), status: z.string(), operation_id: z.string().nullish() });
export type Resource = z.infer<typeof Resource>;
export const Operation = z.looseObject({ id: z.string(), type: z.string(), status: z.string(), error: z.unknown() });

export let product: Product;
export let port: number;
export let dataDir: string;
export let demo: Demo;

beforeAll(async () => {
  product = copyProduct();
  port = await freePort();
  dataDir = product.newDataDir();
});
afterAll(async () => {
  await product.killAll();
  product.remove();
});

export const begin = (more: readonly string[] = [], at = dataDir): Started =>
  product.start({ args: ["--data", at, ...more], env: { PORT: String(port) } });

export async function up(more: readonly string[] = [], at = dataDir): Promise<Started> {
  const started = begin(more, at);
  await started.ready();
  demo = Demo.parse(JSON.parse(readFileSync(join(at, "demo.json"), "utf8")));
  return started;
}

export async function call(method: string, path: string, body?: unknown, token = demo.token): Promise<unknown> {
  const response = await fetch(`${demo.base_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const envelope = Envelope.parse(await response.json());
  if (!envelope.success) throw new Error(`${method} ${path} → ${response.status} ${JSON.stringify(envelope.error)}`);
  return envelope.data;
}

const LONG_POLLS = 9;
export type Ended = z.infer<typeof Operation>;
export async function until(id: string | null | undefined): Promise<Ended> {
  for (let poll = 0; poll < LONG_POLLS; poll++) {
    const operation = Operation.parse(await call("GET", `/operations/${id}?wait=20`));
    if (["succeeded", "failed"].includes(operation.status)) return operation;
  }
  throw new Error(`${id} does not end`);
}

/** Some seconds, on a machine that does much else. With the pace of real machines it would be minutes. */
const READY_SECONDS = 90;

/** Creates a resource and waits until it is ready. */
export async function make(path: string, body: unknown): Promise<Resource> {
  const resource = Resource.parse(await call("POST", path, body));
  const began = performance.now();
  expect(await until(resource.operation_id)).toMatchObject({ status: "succeeded" });
  expect(performance.now() - began, `milliseconds for ${path}`).toBeLessThan(READY_SECONDS * 1000);
  return resource;
}

export const serverBody = (name: string) => ({
  name,
  provider: "sandbox",
  region: "eu-central",
  size: "small",
  ssh_key_id: demo.ssh_key_id,
});
export const instanceBody = (name: string, server_id: string) => ({
  name,
  server_id,
  erp_version: "19.0",
  edition: "community",
  database_name: uniqueDatabase(name),
  admin_email: "admin@example.com",
  domain: uniqueDomain(name),
});

/** Stops it as Ctrl-C does; afterwards no process of it is left, and its port is free. */
export async function stop(started: Started): Promise<void> {
  const pids = started.processes();
  expect(pids.length).toBeGreaterThanOrEqual(4); // npm, its script, the service, Java
  await started.interrupt();
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 60_000 });
  await expect(fetch(`http://127.0.0.1:${port}/api/v1/health`)).rejects.toThrow("fetch failed");
  expect(existsSync(join(dataDir, "lock"))).toBe(false);
}
