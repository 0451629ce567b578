// Unknown paths, and what every response contains.
import { beforeAll, describe, expect, test } from "vitest";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { exchange, anonymous } from "../harness/client.ts";
import { apiUrl } from "../harness/cloud.ts";
import { bodyOf, everyRoute, pathOf } from "../harness/requests.ts";
import { routeClients } from "../harness/route-clients.ts";
import { some } from "../harness/some.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const clientFor = routeClients(() => me);

const paths = [...new Set(everyRoute.map(({ path }) => path))].map((path, place) => ({
  path,
  place,
  methods: everyRoute.filter((route) => route.path === path).map(({ method }): string => method),
}));

describe.each(paths)("$path", ({ path, place, methods: declared }) => {
  const methods = declared.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));

  test("every other method gets 405 with the supported methods", async () => {
    const otherMethods = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"].filter((each) => !methods.includes(each));
    const cases = otherMethods.flatMap((method) => [anonymous, me.api].map((client) => ({ method, client })));
    for (const { method, client } of some(cases, 4, place)) {
      const response = await client.send(method, pathOf({ path }), method === "GET" ? undefined : {});
      expect(response.status, method).toBe(405);
      expect(response.error?.code, method).toBe("METHOD_NOT_ALLOWED");
      expect(response.headers["allow"]?.split(", ").toSorted(), method).toEqual(methods.toSorted());
    }
    const head = await anonymous.send("HEAD", pathOf({ path }));
    if (methods.includes("HEAD")) expect(head.status).not.toBe(405);
    else expect(head.status).toBe(405);
    expect(head.text).toBe("");
  });
});

test("a path with an ID that is too long for the gateway gets 414 in the envelope", async () => {
  const address = `${apiUrl()}${BASE_PATH}/servers/${"a".repeat(1_600)}`;
  const response = await fetch(address, { headers: { authorization: `Bearer ${me.api.token}` } });
  expect(response.status).toBe(414);
  expect(await response.json()).toMatchObject({ success: false, error: { code: "MALFORMED_REQUEST" } });
});

const UNKNOWN = [
  "/",
  "/no-such-thing",
  "/servers/a/b",
  "/instances/a/clone/b",
  "/Servers",
  "/SERVERS",
  "//servers",
  "/servers%2Fa%2Fb/c",
  "/auth",
  "/auth/logins",
  "/openapi",
  "/openapi.yaml",
  "/%00",
  "/__proto__",
  "/..",
  "/v2/servers",
  "/sandbox/instances",
  `/${"a".repeat(2_000)}`,
];
test.each(some(UNKNOWN, 6))("%s is an unknown path for every client and every method", async (path) => {
  for (const client of [anonymous, me.api])
    for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const response = await client.send(method, path, method === "GET" ? undefined : "{");
      expect(response.status, `${method} ${response.text}`).toBe(404);
      expect(response.error, method).toMatchObject({ code: "NOT_FOUND" });
      expect(response.headers, method).not.toHaveProperty("allow");
    }
});

test.each(some(everyRoute, 8))("$title responds at the same path with a trailing slash, like the gateway", async (route) => {
  const headers = { "x-request-id": "slash" };
  const [without, with_] = await Promise.all(
    ["", "/"].map((end) =>
      anonymous.send(route.method, `${pathOf(route, "none")}${end}`, bodyOf(route), { headers, from: "127.0.1.2" }),
    ),
  );
  expect(with_?.status).toBe(without?.status);
});

describe("X-Request-ID", () => {
  test.each(some(["a", "A-b_c.d:e", "3f0c6e2a-8f1b-4d55-9b1e-6c1f2a7d9e10", "x".repeat(128)], 4))(
    "the X-Request-ID %s is returned, in success and failure",
    async (id) => {
      const headers = { "x-request-id": id };
      expect((await me.api.get("/auth/me", { headers })).headers["x-request-id"]).toBe(id);
      expect((await anonymous.get("/health", { headers })).headers["x-request-id"]).toBe(id);
      expect((await anonymous.get("/auth/me", { headers })).headers["x-request-id"]).toBe(id);
      expect((await anonymous.get("/nothing", { headers })).headers["x-request-id"]).toBe(id);
      expect((await anonymous.post("/health", {}, { headers })).headers["x-request-id"]).toBe(id);
      expect((await me.api.get("/servers/none", { headers })).headers["x-request-id"]).toBe(id);
      expect((await me.api.post("/servers", "{", { headers })).headers["x-request-id"]).toBe(id);
    },
  );

  test.each(some(["", " ", "a b", "x".repeat(129), "ünï", "a\tb", "a;b", "<script>", "{}"], 4))(
    'the X-Request-ID "%s" is replaced by a generated one',
    async (id) => {
      const headers = { "x-request-id": id };
      const seen = new Set<string>();
      for (const client of [anonymous, me.api])
        for (const path of ["/auth/me", "/health", "/nothing"]) {
          const requestId = (await client.get(path, { headers })).headers["x-request-id"] ?? "";
          expect(requestId).not.toBe(id);
          expect(requestId).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
          seen.add(requestId);
        }
      expect(seen.size).toBe(6);
    },
  );
});

test("the gateway's own errors are in the envelope where the service can set them", async () => {
  const tooLarge = await exchange("POST", "/servers", {
    body: Buffer.alloc(10 * 1024 * 1024 + 1, "a"),
    headers: { authorization: `Bearer ${me.api.token}`, "content-type": "application/json" },
  });
  expect(tooLarge.status).toBe(413);
  expect(tooLarge.error?.code).toBe("PAYLOAD_TOO_LARGE");
});

// The client of these tests checks every response for headers that prevent caching.

const gets = everyRoute.filter(({ method }) => method === "GET").map((route, place) => ({ ...route, place }));
describe.each(gets)("HEAD $path", (route) => {
  test("HEAD returns what GET returns, without the body, and counts as much", async () => {
    const paths = some([pathOf(route), `${pathOf(route)}?no_such=1`], 2, route.place);
    const api = await clientFor(route, 2 * paths.length);
    const headers = { "x-request-id": "same" };
    const ask = (method: string, path: string) => api.send(method, path, undefined, { headers });
    for (const path of paths) {
      const get = await ask("GET", path);
      const head = await ask("HEAD", path);
      expect(head.text).toBe("");
      expect(head.status).toBe(get.status);
      const moving = ["date", "x-amzn-requestid", "x-ratelimit-remaining", "x-ratelimit-reset"];
      const comparable = (response: typeof get) => Object.entries(response.headers).filter(([name]) => !moving.includes(name));
      // A download URL and a time have a different length each time.
      expect(comparable(head)).toEqual(comparable(get));
      if (route.access !== "public")
        expect(Number(head.headers["x-ratelimit-remaining"])).toBe(Number(get.headers["x-ratelimit-remaining"]) - 1);
    }
    const rejected = await anonymous.send("HEAD", pathOf(route), undefined, { headers });
    expect(rejected.status).toBe((await anonymous.get(pathOf(route), { headers })).status);
  });
});

test("an unsupported method counts nothing and does nothing", async () => {
  const { api } = await me.token();
  for (let i = 0; i < 3; i++) expect((await api.send("PATCH", "/servers", {})).status).toBe(405);
  expect((await api.get("/servers")).headers["x-ratelimit-remaining"]).toBe("99");
});
