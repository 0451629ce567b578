// Bodies of requests: each way to get one wrong has its own error on every route that takes one, and changes nothing.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { account, type TestAccount } from "../harness/account.ts";
import type { ApiResponse } from "../harness/client.ts";
import { bodyOf, bodyRoutes, closedRoutes, fieldsOf, mistakesIn, pathOf } from "../harness/requests.ts";
import { REQUESTS_MAX, routeClients } from "../harness/route-clients.ts";
import { later, some } from "../harness/some.ts";

const LIMIT_BYTES = 64 * 1024;

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const testedRoutes = bodyRoutes.filter(({ id }) => id !== "auth.login").map((route, place) => ({ ...route, place }));
const shaped = testedRoutes.filter((route) => fieldsOf(route.body).fields.length > 0);

const clientFor = routeClients(() => me);

/** `details.field` and `details.reason` have the first problem; `errors` has all of them. */
function expectInvalid(response: ApiResponse, field: string, title: string): void {
  expect(response.status, `${title}: ${response.text}`).toBe(422);
  const { code, message, details = {} } = response.error ?? {};
  expect(code, title).toBe("VALIDATION_ERROR");
  expect(message, title).toBe("Invalid request parameters");
  expect(details, title).toEqual({ field, reason: expect.stringMatching(/./), errors: expect.any(Array) });
  expect(details["errors"], title).toContainEqual({ field, reason: details["reason"] });
}

const expectRejected = (response: ApiResponse, code: string, title: string) => {
  expect(response.error?.code, `${title}: ${response.status} ${response.text}`).toBe(code);
  expect(response.error?.details, title).toBeUndefined();
};

const UNKNOWN = ["no_such_field", "id", "account_id", "status", "constructor", "toString", "hasOwnProperty", "", "a.b", "ключ"];

// The sandbox's data may contain any field.
describe.each(testedRoutes.filter(({ resource }) => resource !== "sandbox"))("$title", (route) => {
  const good = bodyOf(route) ?? {};

  test("a body with an unknown field is rejected and the field named, whatever its name", async () => {
    const fields = some(UNKNOWN, UNKNOWN.length, route.place);
    const polluting = some(["__proto__", "constructor"], 2, route.place);
    const api = await clientFor(route, fields.length + polluting.length);
    const before = await me.trace();
    for (const field of fields) {
      const response = await api.send(route.method, pathOf(route), { ...good, [field]: "x" });
      expectInvalid(response, field, `field "${field}"`);
      expect(response.error?.details?.["reason"]).toBe("is not a known field");
    }
    for (const field of polluting) {
      const text = `{"${field}":{"prototype":{"polluted":true}},${JSON.stringify({ ...good, padding: 1 }).slice(1)}`;
      const response = await api.send(route.method, pathOf(route), text);
      expect(response.status, response.text).toBe(422);
      expect(response.error?.details?.["field"]).toBe(field);
    }
    expect(await me.trace()).toBe(before);
  });
});

test("a forbidden key is named with its path", async () => {
  const body = '{"name":"shop-2","labels":{"env":"a","__proto__":"b"}}';
  expectInvalid(await me.api.send("POST", "/servers", body), "labels.__proto__", body);
});

/** `npm test` makes one in so many of a body's mistakes. */
const MISTAKES_OF = 16;

describe.each(shaped)("$title", (route) => {
  const { fields, required } = fieldsOf(route.body);
  const good = bodyOf(route) ?? {};

  const mistakes = fields.flatMap(([name, field]) => {
    const isLine = field.type === "string" && !route.id.startsWith("auth.") && name !== "public_key";
    const lines = ["a\u0000b", "\u0000", "a\nb", "\ud800"].map((value) => ({ what: JSON.stringify(value), value }));
    return [...mistakesIn(field), ...(isLine ? lines : [])].map((mistake) => ({ name, ...mistake }));
  });

  test("an invalid field is a validation error on that field, and changes nothing", async () => {
    const chosen = some(mistakes, Math.min(MISTAKES_OF, mistakes.length), route.place);
    while (chosen.length > 0) {
      const next = chosen.splice(0, REQUESTS_MAX);
      const api = await clientFor(route, next.length);
      const before = await me.trace();
      for (const { name, what, value } of next)
        expectInvalid(await api.send(route.method, pathOf(route), { ...good, [name]: value }), name, `${name} is ${what}`);
      expect(await me.trace()).toBe(before);
    }
  });

  test.each(later(required))("a body without %s is a validation error", async (name) => {
    const api = await clientFor(route, 1);
    const response = await api.send(route.method, pathOf(route), { ...good, [name]: undefined });
    expectInvalid(response, name, `without ${name}`);
    expect(response.error?.details?.["reason"]).toBe("is required");
  });
});

const bodiless = closedRoutes.filter(({ method, body }) => method !== "GET" && body === undefined);
test.each(some(bodiless, 4))("$title takes no body: it is rejected instead of ignored, and nothing changes", async (route) => {
  const api = await clientFor(route, REQUESTS_MAX); // of its own: a request may end its session
  const before = await me.trace();
  const send = (body: unknown) => api.send(route.method, pathOf(route), body);
  for (const body of [{ dry_run: true }, "{", "[]", " ".repeat(LIMIT_BYTES) + 1])
    expectRejected(await send(body), "MALFORMED_REQUEST", JSON.stringify(body).slice(0, 20));
  expect(await me.trace()).toBe(before);
  for (const body of [undefined, {}, " { }\n"]) expect((await send(body)).error?.code ?? "NOT_FOUND").toBe("NOT_FOUND");
});

const demanding = shaped.filter((route) => fieldsOf(route.body).required.length > 0);
test.each(some(demanding, 3))(
  "$title lists every invalid field; a request without a body counts as an empty object",
  async (route) => {
    const { required } = fieldsOf(route.body);
    const api = await clientFor(route, 3);
    const response = await api.send(route.method, pathOf(route), {});
    expectInvalid(response, required[0] ?? "", "an empty object");
    expect(response.error?.details?.["errors"]).toEqual(required.map((field) => ({ field, reason: "is required" })));
    expect((await api.send(route.method, pathOf(route), undefined)).body).toEqual(response.body);
    const withParameter = await api.send(route.method, `${pathOf(route)}?colour=red`, {});
    const fields = z.array(z.looseObject({ field: z.string() })).parse(withParameter.error?.details?.["errors"]);
    expect(fields.map(({ field }) => field)).toEqual([...required, "colour"]);
  },
);
