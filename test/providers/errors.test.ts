// What a provider's offers, errors and odd entries mean: sizes with prices, each error with the provider's own sentence, and no
// entry that blocks the others.
import { createServer } from "node:http";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { newId } from "../../shared/domain/ids.ts";
import { GiveUp, TryAgain } from "../../shared/platform/task-errors.ts";
import { computeFingerprint } from "../../shared/providers/first-boot.ts";
import { RetryLater } from "../../shared/providers/http.ts";
import type { Provider } from "../../shared/providers/provider.ts";
import { PROVIDERS, type Rented, RENTED } from "./table.ts";

const TOKEN = "provider-secret-token";
const DEPLOYMENT = "erp-test";

let respond: (path: string, page: number) => { status?: number; body?: unknown };
let address: string;
let stop: () => void;
beforeEach(async () => {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const { status = 200, body } = respond(pathname, Number(searchParams.get("page") ?? 1));
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  address = `http://127.0.0.1:${z.object({ port: z.number() }).parse(server.address()).port}`;
  stop = () => {
    server.close();
    server.closeAllConnections();
  };
});
afterEach(() => stop());

const connect = (name: Rented): Provider => PROVIDERS[name].create({ token: TOKEN, address, deployment: DEPLOYMENT });

const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

const KINDS = { final: GiveUp, later: RetryLater, unclear: TryAgain } as const;

type Meaning = [
  name: Rented,
  status: number,
  code: string,
  message: string,
  kind: keyof typeof KINDS,
  expected: "PROVIDER_QUOTA_EXCEEDED" | "PROVIDER_OUT_OF_CAPACITY" | "PROVIDER_UNAUTHORIZED" | "PROVIDER_ERROR",
];
const MEANINGS: Meaning[] = [
  ["hetzner", 403, "resource_limit_exceeded", "server limit reached", "final", "PROVIDER_QUOTA_EXCEEDED"],
  ["hetzner", 412, "resource_unavailable", "error during placement", "final", "PROVIDER_OUT_OF_CAPACITY"],
  ["hetzner", 412, "placement_error", "error during placement", "final", "PROVIDER_OUT_OF_CAPACITY"],
  ["hetzner", 409, "no_space_left_in_location", "no space left", "final", "PROVIDER_OUT_OF_CAPACITY"],
  ["hetzner", 423, "protected", "server deletion is protected", "final", "PROVIDER_ERROR"],
  ["hetzner", 403, "protected", "server deletion is protected", "final", "PROVIDER_ERROR"],
  ["hetzner", 403, "unsupported_error", "this action is not supported", "final", "PROVIDER_ERROR"],
  ["hetzner", 403, "a_code_of_next_year", "the project is archived", "final", "PROVIDER_ERROR"],
  ["hetzner", 422, "invalid_input", "invalid input in field 'image'", "final", "PROVIDER_ERROR"],
  ["hetzner", 423, "locked", "server is locked", "later", "PROVIDER_ERROR"],
  ["hetzner", 409, "conflict", "resource changed during request", "later", "PROVIDER_ERROR"],
  ["hetzner", 503, "maintenance", "cannot perform operation due to maintenance", "later", "PROVIDER_ERROR"],
  ["hetzner", 401, "unauthorized", "unable to authenticate", "final", "PROVIDER_UNAUTHORIZED"],
  ["hetzner", 403, "forbidden", "insufficient permissions for this request", "final", "PROVIDER_UNAUTHORIZED"],
  ["hetzner", 403, "token_readonly", "token is only allowed to perform GET requests", "final", "PROVIDER_UNAUTHORIZED"],
  ["hetzner", 503, "unavailable", "the service is not available", "unclear", "PROVIDER_ERROR"],
  ["hetzner", 504, "timeout", "the request could not be answered in time", "unclear", "PROVIDER_ERROR"],
  ["digitalocean", 422, "unprocessable_entity", "Please add a payment method to your account", "final", "PROVIDER_ERROR"],
  ["digitalocean", 422, "unprocessable_entity", "Droplet is locked by another event", "later", "PROVIDER_ERROR"],
  ["digitalocean", 422, "unprocessable_entity", "You have reached your account limits", "final", "PROVIDER_QUOTA_EXCEEDED"],
  ["digitalocean", 422, "unprocessable_entity", "Your quota for this region is used up", "final", "PROVIDER_QUOTA_EXCEEDED"],
  ["digitalocean", 429, "too_many_requests", "API rate limit exceeded", "later", "PROVIDER_ERROR"],
  ["hetzner", 429, "rate_limit_exceeded", "limit of 3600 requests per hour reached", "later", "PROVIDER_ERROR"],
  ["digitalocean", 403, "forbidden", "Your account is locked, please contact support", "final", "PROVIDER_ERROR"],
  ["digitalocean", 403, "forbidden", "You are not authorized to perform this operation", "final", "PROVIDER_UNAUTHORIZED"],
  [
    "digitalocean",
    422,
    "unprocessable_entity",
    "creating this/these droplet(s) will exceed your droplet limit",
    "final",
    "PROVIDER_QUOTA_EXCEEDED",
  ],
  ["digitalocean", 422, "unprocessable_entity", "This size is currently restricted", "final", "PROVIDER_QUOTA_EXCEEDED"],
  ["digitalocean", 422, "unprocessable_entity", "user_data is over the limit of 64 KB", "final", "PROVIDER_ERROR"],
  ["digitalocean", 422, "unprocessable_entity", "Size is not available in this region", "final", "PROVIDER_OUT_OF_CAPACITY"],
  ["digitalocean", 422, "unprocessable_entity", "Droplet already has a pending event", "later", "PROVIDER_ERROR"],
  ["digitalocean", 422, "unprocessable_entity", "Only valid hostname characters are allowed", "final", "PROVIDER_ERROR"],
  ["digitalocean", 500, "server_error", "Unexpected server-side error", "unclear", "PROVIDER_ERROR"],
];

test.each(RENTED)("the errors of %s include a used-up quota, a lack of machines and rejected credentials", (provider) => {
  const codes = MEANINGS.filter(([name]) => name === provider).map((meaning) => meaning[5]);
  for (const code of ["PROVIDER_QUOTA_EXCEEDED", "PROVIDER_OUT_OF_CAPACITY", "PROVIDER_UNAUTHORIZED"] as const)
    expect(codes, "MEANINGS of this file").toContain(code);
});

describe.each(MEANINGS)("%s, %i %s: %s", (name, status, code, message, kind, expected) => {
  test(`is ${expected} with the provider's sentence`, async () => {
    respond = () => PROVIDERS[name].errorResponse(status, code, `${message}.`);
    const provider = connect(name);
    const error = await errorOf(provider.findMachine("1"));
    expect(error).toBeInstanceOf(KINDS[kind]);
    if (kind === "unclear") expect(error).not.toBeInstanceOf(RetryLater);
    expect(error).toMatchObject({
      code: expected,
      message: expect.stringMatching(`${provider.name} says: ${message.replace(/[()]/g, "\\$&")}$`),
    });
  });
});

describe.each([
  [
    "its messages",
    { messages: ["Tags may have at most 255 characters.", "Another"] },
    400,
    "Tags may have at most 255 characters",
  ],
  ["its error, without messages", { messages: null }, 422, "Error validating request"],
  ["the one that says what is missing", { messages: ["Size is not available in this region"] }, 422, "Size is not available"],
])("DigitalOcean's error with root causes is told by %s", (_, more, status, sentence) => {
  test("as one that a repetition does not help", async () => {
    respond = () => ({ status, body: { error: "Error validating request", root_causes: [], ...more } });
    const error = await errorOf(connect("digitalocean").findMachine("1"));
    expect(error).toBeInstanceOf(GiveUp);
    expect(error).toMatchObject({ message: expect.stringContaining(`DigitalOcean says: ${sentence}`) });
  });
});

test("the error of a proxy in front of DigitalOcean does not say whether the request took effect", async () => {
  respond = () => ({ status: 400, body: { error: "Bad gateway" } });
  expect(await errorOf(connect("digitalocean").findMachine("1"))).not.toBeInstanceOf(GiveUp);
});

test("a provider's sentence is one short line that does not repeat the token", async () => {
  const message = `Bad\nrequest\u0007 with ${TOKEN}: ${"x".repeat(1000)}`;
  respond = () => ({ status: 422, body: { error: { code: "invalid_input", message } } });
  const error = z.instanceof(Error).parse(await errorOf(connect("hetzner").findMachine("1")));
  expect(error.message).toMatch(/ says: Bad request with \(hidden\): x+…$/);
  expect(error.message.length).toBeLessThan(300);
  expect(String(error.cause)).not.toContain(TOKEN);
});

test.each(RENTED)("the catalog of %s has regions, and sizes with prices, among them the one that tests order", async (name) => {
  const { create, place, startFake } = PROVIDERS[name];
  const { token, address: fakeAddress, stop: stopFake } = await startFake(computeFingerprint);
  onTestFinished(stopFake);
  const { code, regions, sizes } = await create({ token, address: fakeAddress, deployment: DEPLOYMENT }).catalog();
  expect(code).toBe(name);
  expect(regions.map((region) => region.code)).toContain(place.region);
  expect(sizes.map((size) => size.code)).toContain(place.size);
  expect(sizes.find((size) => size.code === place.size)?.regions).toContain(place.region);
  for (const { price, cpu, memory_gb, disk_gb } of sizes)
    for (const amount of [price?.monthly, price?.hourly, cpu, memory_gb, disk_gb]) expect(amount).toBeGreaterThan(0);
});

const hetznerPage = (list: string, entries: unknown[]) => ({ [list]: entries, meta: { pagination: { next_page: null } } });
const TYPE = {
  name: "cx32",
  architecture: "x86",
  cores: 4,
  memory: 8,
  disk: 80,
  locations: [{ name: "fsn1" }],
  prices: [{ location: "fsn1", price_monthly: { net: "6.8" }, price_hourly: { net: "0.01" } }],
};
const SIZE = { slug: "s-2vcpu-4gb", available: true, vcpus: 2, memory: 4096, disk: 80, regions: ["fra1"] };

test("one odd price or size does not stop the catalog", async () => {
  const unpriced = [null, "6,80", "6.80 EUR", "", "-1", "1e400", "9".repeat(30)].map((net) => ({
    location: "fsn1",
    price_monthly: net === null ? null : { net },
    price_hourly: { net: "0.01" },
  }));
  respond = (path) => ({
    body: path.endsWith("/server_types")
      ? hetznerPage("server_types", [TYPE, { ...TYPE, name: "cx42", prices: unpriced }, { ...TYPE, name: "odd", cores: null }])
      : hetznerPage("locations", [{ name: "fsn1", city: "Falkenstein", country: "DE" }, { name: null }]),
  });
  const { sizes, regions } = await connect("hetzner").catalog();
  expect(regions.map(({ code }) => code)).toEqual(["fsn1"]);
  expect(sizes.map(({ code, price }) => [code, price?.monthly ?? null])).toEqual([
    ["cx32", 6.8],
    ["cx42", null],
  ]);
  const priced = { ...SIZE, price_monthly: 24, price_hourly: 0.036 };
  respond = (path) => ({
    body: path.endsWith("/sizes")
      ? { sizes: [priced, { ...priced, slug: "s-4vcpu-8gb", price_monthly: null }, { slug: 7 }] }
      : { regions: [{ slug: "fra1", name: "Frankfurt 1", available: true }, null] },
  });
  expect((await connect("digitalocean").catalog()).sizes.map(({ code, price }) => [code, price?.monthly ?? null])).toEqual([
    ["s-2vcpu-4gb", 24],
    ["s-4vcpu-8gb", null],
  ]);
});

test("what does not apply may be null", async () => {
  const type = { ...TYPE, locations: [null, ...TYPE.locations] };
  respond = (path) => ({
    body: path.endsWith("/server_types")
      ? hetznerPage("server_types", [type])
      : hetznerPage("locations", [{ name: "fsn1", city: "Falkenstein", country: null }]),
  });
  expect(await connect("hetzner").catalog()).toMatchObject({
    regions: [{ code: "fsn1", name: "Falkenstein" }],
    sizes: [{ code: "cx32", regions: ["fsn1"] }],
  });
  respond = (path) => ({
    body: path.endsWith("/sizes")
      ? { sizes: [{ ...SIZE, regions: [null, "fra1"], gpu_info: null }], links: null }
      : { regions: [{ slug: "fra1", name: "Frankfurt 1", available: true }], links: { pages: { next: null } } },
  });
  expect((await connect("digitalocean").catalog()).sizes).toMatchObject([{ code: SIZE.slug, regions: ["fra1"] }]);
});

test.each([
  ["resource_unavailable", "PROVIDER_OUT_OF_CAPACITY", "Hetzner has no machine of this size"],
  ["action_failed", "PROVIDER_ERROR", "Hetzner rejected the request (action_failed)"],
])(
  "a machine that Hetzner could not create (%s) fails as %s with its sentence, also once it is gone",
  async (code, expected, sentence) => {
    const action = (id: number, command: string) => ({
      command,
      status: "error",
      resources: [{ id, type: "server" }],
      error: { code, message: "No more hosts." },
    });
    let actions = [action(1, "create_server")];
    for (const server of [undefined, { id: 1, status: "initializing" }]) {
      respond = (path) => {
        if (path.endsWith("/actions")) return { body: { actions } };
        return server === undefined ? PROVIDERS.hetzner.errorResponse(404, "not_found") : { body: { server } };
      };
      const error = await errorOf(connect("hetzner").findMachine("1"));
      expect(error).toBeInstanceOf(GiveUp);
      expect(error).toMatchObject({
        code: expected,
        message: expect.stringMatching(new RegExp(`${sentence.replace(/[()]/g, "\\$&")}.*Hetzner says: No more hosts$`)),
      });
    }
    actions = [action(2, "create_server"), action(1, "start_server")];
    expect(await connect("hetzner").findMachine("1")).toMatchObject({ state: "starting" });
  },
);

/** Machines as the providers list them: ours, and one with nothing in it that is as described but its ID. */
const ODD = {
  id: 2,
  name: null,
  status: 3,
  created: null,
  created_at: null,
  networks: null,
  public_net: [],
  tags: null,
  labels: null,
};
const ids = { operation_id: newId("operation"), server_id: newId("server"), account_id: newId("account") };
const owner = { server_id: ids.server_id, account_id: ids.account_id, machine_id: "1" };

describe.each(RENTED)("%s", (name) => {
  const { errorResponse, listedMachine, machinesPage } = PROVIDERS[name];
  const provider = (): Provider => connect(name);

  test("an odd machine stops neither the list of all machines nor the release of others", async () => {
    const ours = { machine_id: "1", created_at: "2026-11-25T00:00:00Z", ...ids };
    const entries = [{ ...ODD, ...listedMachine(ours, DEPLOYMENT) }, ODD, { id: "no number" }];
    respond = () => ({ body: machinesPage(entries, null) });
    expect(await provider().listMachines()).toEqual([ours]);
    respond = (path) => (/\d$/.test(path) ? errorResponse(404, "not_found") : { body: machinesPage([ODD], null) });
    expect(await provider().releaseMachine(owner)).toEqual({ isGone: true });
  });

  test("a machine without an ID is neither taken for none nor given back", async () => {
    respond = () => ({ body: machinesPage([{ ...ODD, id: null }], null) });
    expect(await errorOf(provider().releaseMachine(owner))).toBeInstanceOf(TryAgain);
    const request = { ...ids, name: "erp", ...PROVIDERS[name].place };
    expect(await errorOf(provider().findRequested(request))).toBeInstanceOf(TryAgain);
  });

  test("a list of more than 50 pages is read to its end", async () => {
    const pages: number[] = [];
    respond = (_, page) => {
      pages.push(page);
      return { body: machinesPage([{ ...ODD, id: page }], page < 120 ? page + 1 : null) };
    };
    expect(await errorOf(provider().listMachines())).toBeUndefined();
    expect(pages).toHaveLength(120);
  });
});
