// The newest images of the ERP: what is asked of a registry, how often, and what becomes of one that does not say.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { handler as refresh } from "../../functions/schedules/refresh-catalog.ts";
import { keys } from "../../shared/data/keys.ts";
import { removeOne } from "../../shared/data/table.ts";
import { readCatalog } from "../../shared/providers/catalog.ts";
import { offeredVersions } from "../../shared/providers/images.ts";
import { lookUpImage } from "../../shared/providers/registry.ts";
import { readNewestImages } from "../../shared/records/newest-images.ts";
import { pass } from "./executions.ts";
import { type ProviderHarness, providerHarness } from "./harness.ts";

let here: ProviderHarness;
let server: Server;
let mirror: string;
let requests: string[];
let authorizations: Set<string | undefined>;
/** What the registry has under each version: the date of its image. */
let created: string;
/** Whether it has one of 20.0. */
let has20: boolean;
/** What it responds with instead. */
let broken: number | undefined;

const digestOf = (value: unknown): string => `sha256:${createHash("sha256").update(JSON.stringify(value)).digest("hex")}`;
const config = () => ({ created, os: "linux" });
const manifest = (architecture: string) => ({ config: { digest: digestOf(config()) }, architecture });
const listed = (architecture: string, os = "linux") => ({
  digest: digestOf(manifest(architecture)),
  platform: { os, architecture },
});
const index = () => ({ manifests: [listed("amd64"), listed("arm64"), listed("ppc64le"), listed("unknown", "unknown"), ...odd] });
/** Entries of a list that are as no description has them. */
const odd = [
  { digest: digestOf("attestation"), platform: null },
  { digest: digestOf("signature"), platform: { os: 7 } },
];
const TOKEN = "Bearer only-for-this-repository";

beforeAll(async () => {
  here = await providerHarness();
  server = createServer((request, response) => {
    const { status, body, headers } = respond(request);
    response.writeHead(status, headers).end(request.method === "HEAD" ? undefined : JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  mirror = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());
beforeEach(async () => {
  [requests, authorizations, broken, created, has20] = [[], new Set(), undefined, "2026-11-01T03:00:00.5Z", true];
  await here.configure({ registry: { mirror: `${mirror}/hub`, username: "reader", password: "s3cret" } });
});

function respond({ method, url = "", headers }: IncomingMessage): {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
} {
  const path = url.replace("/v2/hub/library/odoo/", "");
  if (url.startsWith("/token")) {
    requests.push(url);
    return { status: 200, body: { token: TOKEN.replace("Bearer ", "") } };
  }
  requests.push(`${method} ${path}`);
  authorizations.add(headers.authorization);
  if (broken !== undefined) return { status: broken };
  if (headers.authorization !== TOKEN) {
    const challenge = `Bearer realm="http://${mirror}/token",service="registry",scope="repository:hub/library/odoo:pull"`;
    return { status: 401, headers: { "www-authenticate": challenge } };
  }
  const content = [index(), manifest("amd64"), manifest("arm64")].find((each) => path === `manifests/${digestOf(each)}`);
  if (path === "manifests/20.0" && !has20) return { status: 404 };
  if (/^manifests\/\d/.test(path)) return { status: 200, body: index(), headers: { "docker-content-digest": digestOf(index()) } };
  if (path === `blobs/${digestOf(config())}`) return { status: 200, body: config() };
  return content === undefined ? { status: 404 } : { status: 200, body: content };
}

const registry = () => ({ mirror: `${mirror}/hub` });

test("an image has the names that machines of each processor may give it, and the date of its configuration", async () => {
  const image = await lookUpImage("19.0", registry(), undefined);
  expect(image).toEqual({
    version: "19.0",
    digest: digestOf(index()),
    ids: [digestOf(index()), digestOf(manifest("amd64")), digestOf(manifest("arm64")), digestOf(config())],
    created_at: "2026-11-01T03:00:00.500Z",
  });
  expect(requests.filter((each) => each.startsWith("/token"))).toEqual([
    `/token?service=registry&scope=${encodeURIComponent("repository:hub/library/odoo:pull")}`,
  ]);
  requests = [];
  const knownImage = { ...image, checked_at: "2026-11-20T12:00:00.000Z" };
  expect(await lookUpImage("19.0", registry(), knownImage)).toBe(knownImage);
  expect(requests.filter((each) => each.startsWith("GET"))).toEqual([]);
});

test.each([
  ["over plain HTTP elsewhere", "http://registry.example.com/token"],
  ["nowhere", ""],
])("credentials are not sent to a place of tokens that is %s", async (_, realm) => {
  const elsewhere = createServer((_request, response) => {
    response.writeHead(401, { "www-authenticate": `Bearer realm="${realm}"` }).end();
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = elsewhere.address() as AddressInfo;
  const asking = lookUpImage("19.0", { mirror: `127.0.0.1:${port}`, username: "u", password: "p" }, undefined);
  await expect(asking).rejects.toThrow("The registry does not say where its tokens are");
  elsewhere.close();
});

test("each version is looked up once an hour, and one that the registry does not respond to stays as it was", async () => {
  const readNewest = async () => (await readNewestImages()).map(({ version, created_at }) => [version, created_at]);
  const versions = ["17.0", "18.0", "19.0", "20.0"];
  broken = 503;
  await refresh();
  expect(await readNewest()).toEqual([]);
  broken = undefined;
  await refresh();
  expect(await readNewest()).toEqual(versions.map((version) => [version, "2026-11-01T03:00:00.500Z"]));
  requests = [];
  pass(600);
  await refresh();
  expect(requests).toEqual([]);

  pass(3600);
  broken = 429;
  created = "2026-11-18T03:00:00.000Z";
  await refresh();
  expect(requests).toHaveLength(versions.length);
  expect(await readNewest()).toEqual(versions.map((version) => [version, "2026-11-01T03:00:00.500Z"]));
  broken = undefined;
  pass(600);
  await refresh();
  expect(await readNewest()).toEqual(versions.map((version) => [version, "2026-11-18T03:00:00.000Z"]));
  // Credentials are for where tokens are, tokens for the registry.
  expect([...authorizations]).toEqual([undefined, TOKEN]);
});

test("a version is offered from when the registry has an image of it, for which it is asked once an hour", async () => {
  const offered = async () => (await offeredVersions()).map(({ version }) => version);
  const now = ["19.0", "18.0", "17.0"];
  await removeOne(keys.newestImage("20.0"));
  has20 = false;
  pass(3600);
  expect(await offered()).toEqual(now);
  await refresh();
  pass(600);
  requests = [];
  await refresh();
  expect([requests, await offered()]).toEqual([[], now]);
  has20 = true;
  pass(3600);
  await refresh();
  expect((await readCatalog()).erp_versions.slice(0, 2)).toEqual([
    { version: "20.0", deprecated: false },
    { version: "19.0", deprecated: false },
  ]);
  // It is offered on, whatever the registry says then.
  has20 = false;
  pass(3600);
  await refresh();
  pass(600);
  expect(await offered()).toEqual(["20.0", ...now]);
});
