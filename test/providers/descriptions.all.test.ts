// Every kind of request to a provider satisfies the provider's published API description, and we understand the responses
// that it describes. Prism serves the descriptions, which are cut to what the tests need.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { handler as refresh } from "../../functions/schedules/refresh-catalog.ts";
import { handler as sweep } from "../../functions/schedules/sweep.ts";
import { freePort } from "../harness/free-port.ts";
import type { FakeRequest } from "./fake.ts";
import { type ProviderHarness, providerHarness } from "./harness.ts";
import { PROVIDERS, RENTED, type Rented } from "./table.ts";

vi.mock("../../shared/hosts/ssh.ts", () => import("./fake-host.ts"));

const READY_WITHIN_SECONDS = 60;

const require = createRequire(import.meta.url);
const PRISM = join(dirname(require.resolve("@stoplight/prism-cli/package.json")), "dist", "index.js");

interface Prism {
  address: string;
  child: ChildProcess;
}

async function prism(provider: Rented): Promise<Prism> {
  const description = join(import.meta.dirname, "specs", `${provider}.json`);
  if (!existsSync(description))
    throw new Error(`${description} is missing: store the API description there that the provider ${provider} publishes`);
  const port = await freePort();
  const child = spawn(process.execPath, [PRISM, "mock", "-h", "127.0.0.1", "-p", String(port), description], { stdio: "ignore" });
  const address = `http://127.0.0.1:${port}`;
  for (let second = 0; second < READY_WITHIN_SECONDS * 4; second++) {
    if (child.exitCode !== null) throw new Error(`Prism cannot read ${description}: it ended with ${child.exitCode}`);
    if (
      await fetch(address).then(
        () => true,
        () => false,
      )
    )
      return { address, child };
    await sleep(250);
  }
  child.kill();
  throw new Error("Prism did not start in time");
}

let here: ProviderHarness;
const prisms = new Map<Rented, Prism>();
beforeAll(async () => {
  here = await providerHarness();
  const started = await Promise.all(RENTED.map(async (provider) => [provider, await prism(provider)] as const));
  for (const [provider, each] of started) prisms.set(provider, each);
});
afterAll(() => {
  for (const { child } of prisms.values()) child.kill();
});

const prismOf = (provider: Rented): string => prisms.get(provider)?.address ?? "";

/** One request of each kind, with its path, parameters and fields. */
function kinds(requests: readonly FakeRequest[]): Map<string, FakeRequest> {
  const entries = requests.map((request): [string, FakeRequest] => {
    const path = request.path.replaceAll(/\/[0-9a-f:]{2,}(?=\/|$)/g, "/:id");
    return [`${request.method} ${path} ${[...request.query.keys()].toSorted().join(" ")}`.trim(), request];
  });
  return new Map(entries);
}

const WANTED: Record<Rented, string[]> = {
  hetzner: [
    "DELETE /servers/:id",
    "GET /images architecture page per_page status type",
    "GET /locations page per_page",
    "GET /server_types name page per_page",
    "GET /server_types page per_page",
    "GET /servers label_selector page per_page",
    "GET /servers/:id",
    "GET /servers/actions per_page sort status",
    "GET /ssh_keys fingerprint page per_page",
    "POST /servers",
    "POST /ssh_keys",
  ],
  digitalocean: [
    "DELETE /v2/droplets/:id",
    "GET /v2/account/keys/:id",
    "GET /v2/droplets name page per_page",
    "GET /v2/droplets page per_page tag_name",
    "GET /v2/droplets/:id",
    "GET /v2/images page per_page type",
    "GET /v2/regions page per_page",
    "GET /v2/sizes page per_page",
    "POST /v2/account/keys",
    "POST /v2/droplets",
  ],
};

const EXAMPLE: Record<Rented, unknown> = {
  hetzner: undefined, // is being deleted
  digitalocean: { state: "running", ip_address: "192.241.165.154" },
};

describe.each(RENTED)("%s", (provider) => {
  test("the provider's description has every request of a server's life", async () => {
    const { server } = await here.create(await here.account(), provider);
    await refresh();
    await sweep();
    await here.remove(server);
    const sent = kinds(here[provider].requests);
    expect([...sent.keys()].toSorted()).toEqual(WANTED[provider]);
    for (const [kind, { method, path, query, body }] of sent) {
      const response = await fetch(`${prismOf(provider)}${path}?${query.toString()}`, {
        method,
        headers: { authorization: "Bearer anything", ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      expect({ kind, status: response.status, wrong: response.ok ? null : await response.text() }).toMatchObject({
        kind,
        status: method === "DELETE" ? expect.toBeOneOf([200, 204]) : method === "POST" ? expect.toBeOneOf([201, 202]) : 200,
      });
    }
  });

  test("a request that violates the provider's description is rejected", async () => {
    const response = await fetch(`${prismOf(provider)}${PROVIDERS[provider].machinesPath}`, {
      method: "POST",
      headers: { authorization: "Bearer anything", "content-type": "application/json" },
      body: JSON.stringify({ name: "without-a-size" }),
    });
    expect(response.status).toBeOneOf([400, 422]);
  });

  test("the example responses of the provider's description are understood", async () => {
    const adapter = PROVIDERS[provider].create({ token: "anything", address: prismOf(provider), deployment: "erp-live-test" });
    expect(await adapter.findMachine("42")).toEqual(EXAMPLE[provider]);
    // The service reads every page, and the examples say that there is always another.
    await expect(adapter.catalog()).rejects.toThrow("without an end");
  });
});
