// The typed client: what it sends, returns and throws, and what does not compile.
import { createServer } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { ClientError, createClient } from "../../shared/api/client.ts";
import type { DryRun } from "../../shared/api/dry-run.ts";
import type { ListMeta } from "../../shared/api/fields.ts";
import type { Operation } from "../../shared/api/operations.ts";
import type { Server } from "../../shared/api/servers.ts";

interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

let lastRequest: Seen;
let canned: { status: number; headers?: Record<string, string>; body: string };

const service = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => void chunks.push(chunk));
  request.on("end", () => {
    const { method, url, headers } = request;
    lastRequest = { method, url, headers, body: Buffer.concat(chunks).toString() };
    response.writeHead(canned.status, { "x-request-id": "req-1", ...canned.headers }).end(canned.body);
  });
});

let baseUrl: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    service.listen(0, "127.0.0.1", resolve);
  });
  const { port } = z.object({ port: z.number() }).parse(service.address());
  baseUrl = `http://127.0.0.1:${port}/api/v1`;
});
afterAll(() => void service.close());
beforeEach(() => {
  canned = { status: 200, body: JSON.stringify({ success: true, data: {} }) };
});

const client = () => createClient({ baseUrl, token: () => "svc_test_x" });
const failing = async (call: Promise<unknown>): Promise<ClientError> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ClientError)) throw new Error("A ClientError was expected", { cause: error });
  return error;
};

test("the client sends the request that the route table declares", async () => {
  canned = {
    status: 201,
    headers: {
      location: "/api/v1/instances/ins_2",
      "idempotent-replayed": "true",
      "x-ratelimit-limit": "20",
      "x-ratelimit-remaining": "19",
      "x-ratelimit-reset": "1000",
    },
    body: JSON.stringify({ success: true, data: { id: "ins_2" } }),
  };
  const body = { name: "Shop", domain: "shop.example.com", backup_id: "bak_1" };
  const result = await client().instances.clone({ params: { id: "ins/1" }, body, idempotencyKey: "k1", requestId: "mine" });
  expect(lastRequest).toMatchObject({
    method: "POST",
    url: "/api/v1/instances/ins%2F1/clone",
    headers: {
      authorization: "Bearer svc_test_x",
      "content-type": "application/json",
      "idempotency-key": "k1",
      "x-request-id": "mine",
    },
    body: JSON.stringify(body),
  });
  expect(result).toEqual({
    data: { id: "ins_2" },
    status: 201,
    requestId: "req-1",
    location: "/api/v1/instances/ins_2",
    replayed: true,
    rateLimit: { limit: 20, remaining: 19, reset: new Date(1_000_000) },
  });
});

test("a list call returns the records and their position in the list", async () => {
  const meta = { page: 2, per_page: 5, total: 7, next_cursor: null };
  canned = { status: 200, body: JSON.stringify({ success: true, data: [{ id: "srv_1" }], meta }) };
  const result = await client().servers.list({ query: { page: 2, per_page: 5, status: undefined } });
  expect(lastRequest.url).toBe("/api/v1/servers?page=2&per_page=5");
  expect(lastRequest.body).toBe("");
  expect(result).toMatchObject({ data: [{ id: "srv_1" }], meta });
});

test("the client sends an empty object if every field of the body is optional", async () => {
  await client().auth.logout({ body: {} });
  expect(lastRequest.body).toBe("{}");
});

test("an unenveloped document is returned unchanged", async () => {
  canned = { status: 200, body: JSON.stringify({ openapi: "3.1.1" }) };
  expect((await client().openapi.get()).data).toEqual({ openapi: "3.1.1" });
});

test("without a token the client sends no Authorization header", async () => {
  await createClient({ baseUrl: `${baseUrl}/`, token: () => undefined }).health.get();
  expect(lastRequest.url).toBe("/api/v1/health");
  expect(lastRequest.headers["authorization"]).toBeUndefined();
});

test("an error response is thrown with its code, message, details and request ID", async () => {
  const error = { code: "RATE_LIMIT_EXCEEDED", message: "Too many", details: { limit: 100 } };
  canned = { status: 429, headers: { "retry-after": "7" }, body: JSON.stringify({ success: false, error }) };
  expect(await failing(client().catalog.get())).toMatchObject({ ...error, status: 429, requestId: "req-1", retryAfter: 7 });
});

test.each([
  ["an HTML page", { status: 502, body: "<html>" }],
  ["a success response without data", { status: 200, body: '{"success":true}' }],
  ["an error response without an error", { status: 500, body: '{"success":false}' }],
  ["a success envelope with an error's status", { status: 500, body: '{"success":true,"data":{}}' }],
  ["null", { status: 200, body: "null" }],
])("%s is reported as UNEXPECTED_RESPONSE, not returned as data", async (_, response) => {
  canned = response;
  expect(await failing(client().catalog.get())).toMatchObject({ code: "UNEXPECTED_RESPONSE", status: response.status });
});

test("an unreachable service fails with an error that has no status", async () => {
  const away = createClient({ baseUrl, token: () => undefined, fetch: () => Promise.reject(new TypeError("fetch failed")) });
  expect(await failing(away.health.get())).toMatchObject({ code: "NETWORK_ERROR", status: 0, requestId: undefined });
});

test("aborting a call throws the abort error", async () => {
  await expect(client().health.get({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
});

test("the compiler checks the parameters and the data of every call", () => {
  const { servers, instances, operations } = client();
  expectTypeOf(servers.get).returns.resolves.toHaveProperty("data").toEqualTypeOf<Server>();
  expectTypeOf(servers.delete).returns.resolves.toHaveProperty("data").toEqualTypeOf<Operation>();
  expectTypeOf(servers.list).returns.resolves.toHaveProperty("meta").toEqualTypeOf<ListMeta>();
  expectTypeOf(servers.get).returns.resolves.not.toHaveProperty("meta");
  expectTypeOf(servers.list).toBeCallableWith();
  expectTypeOf(operations.get).toBeCallableWith({ params: { id: "op_1" }, query: { wait: 20 } });

  const uncalled = [
    // @ts-expect-error the path has a parameter
    () => servers.get(),
    // @ts-expect-error every field of a new server is required: `size` is missing
    () => servers.create({ body: { name: "erp-1", provider: "sandbox", region: "eu-central", ssh_key_id: "key_1" } }),
    // @ts-expect-error the service rejects a field that the endpoint does not have
    () => servers.update({ params: { id: "srv_1" }, body: { name: "erp-1", size: "small" } }),
    // @ts-expect-error an unknown action
    () => instances.act({ params: { id: "ins_1" }, body: { action: "explode" } }),
    // @ts-expect-error a deletion takes no body
    () => instances.delete({ params: { id: "ins_1" }, body: {} }),
  ];
  expect(uncalled).toHaveLength(5);
});

test("a dry run is the same call with a parameter, and exists only where the service supports it", async () => {
  const forecast = { dry_run: true, allowed: true, effects: [], downtime_seconds: null, disk_bytes: 0, warnings: [] };
  canned = { status: 200, body: JSON.stringify({ success: true, data: forecast }) };
  const { data } = await client().instances.act.dryRun({ params: { id: "ins_1" }, body: { action: "stop" } });
  expect(lastRequest).toMatchObject({
    method: "POST",
    url: "/api/v1/instances/ins_1/actions?dry_run=true",
    body: '{"action":"stop"}',
  });
  expect(data).toEqual(forecast);
  expectTypeOf(data).toEqualTypeOf<DryRun>();
  expect(client().instances.get).not.toHaveProperty("dryRun");
});
