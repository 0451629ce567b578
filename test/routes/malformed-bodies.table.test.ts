// Bodies that cannot be read: each way has its own error on every route that takes a body, and changes nothing.
import { beforeAll, describe, expect, test } from "vitest";
import { account, type TestAccount } from "../harness/account.ts";
import type { ApiResponse, Client } from "../harness/client.ts";
import { bodyOf, bodyRoutes, pathOf } from "../harness/requests.ts";
import { routeClients } from "../harness/route-clients.ts";
import { some } from "../harness/some.ts";

const LIMIT_BYTES = 64 * 1024;

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const testedRoutes = bodyRoutes.filter(({ id }) => id !== "auth.login");

const clientFor = routeClients(() => me);

const expectRejected = (response: ApiResponse, code: string, title: string) => {
  expect(response.error?.code, `${title}: ${response.status} ${response.text}`).toBe(code);
  expect(response.error?.details, title).toBeUndefined();
};

describe.each(testedRoutes.map((route, place) => ({ title: route.title, route, place })))("$title", ({ route, place }) => {
  const good = bodyOf(route) ?? {};
  const ask = (client: Client, body: unknown, headers?: Record<string, string>) =>
    client.send(route.method, pathOf(route), body, headers && { headers });

  const rejectsMalformed = async () => {
    const api = await clientFor(route, 15);
    const before = await me.trace();
    const malformed = [
      "{",
      '{"a":1',
      "nonsense",
      "'a'",
      "{'a':1}",
      '{"a":1,}',
      "[]",
      "[{}]",
      "null",
      "1",
      '"text"',
      "true",
      "\u0000",
      '{"a":"\u0001"}',
    ];
    for (const text of malformed) expectRejected(await ask(api, text), "MALFORMED_REQUEST", text);
    expectRejected(await ask(api, Buffer.from([0xff, 0xfe, 0x00])), "MALFORMED_REQUEST", "bytes that are no UTF-8");
    expect(await me.trace()).toBe(before);
  };

  const rejectsNesting = async () => {
    const api = await clientFor(route, 3);
    const before = await me.trace();
    expectRejected(await ask(api, `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`), "MALFORMED_REQUEST", "lists in lists");
    expectRejected(await ask(api, `${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}`), "MALFORMED_REQUEST", "objects in objects");
    expectRejected(await ask(api, "[".repeat(60_000)), "MALFORMED_REQUEST", "what never ends");
    expect(await me.trace()).toBe(before);
  };

  const rejectsRepeatedKeys = async () => {
    const api = await clientFor(route, 8);
    const before = await me.trace();
    const repeated: [text: string, key: string][] = [
      ['{"name":1,"name":2}', "name"],
      [String.raw`{"name":1,"n\u0061me":2}`, "name"],
      [String.raw`{"a\u002fb":1,"a\/b":2,"a":3}`, "a/b"],
      ['{"a":{"b":[{"c":1,"d":{"c":1},"c" : 2}]}}', "c"],
      ['{"a":"{\\"x\\":1,\\"x\\":2}","":1,"":2}', ""],
      ['{"__proto__":1,"__proto__":2}', "__proto__"],
      [`{${Array.from({ length: 6_000 }, (_, i) => `"k${i}":0`).join()},"k5999":1}`, "k5999"],
    ];
    for (const [text, key] of repeated) {
      const response = await ask(api, text);
      expectRejected(response, "MALFORMED_REQUEST", text.slice(0, 60));
      expect(response.error?.message).toBe(`The request body has the key "${key}" more than once in an object`);
    }
    expect(await me.trace()).toBe(before);
    const once = '{"a":{"x":1},"b":{"x":1},"c":["x","x"],"d":"{\\"x\\":1,\\"x\\":2}","x":"a"}';
    expect((await ask(api, once)).error?.code).not.toBe("MALFORMED_REQUEST");
  };

  const rejectsOtherTypes = async () => {
    const api = await clientFor(route, 10);
    const body = JSON.stringify(good);
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/jsonp",
      "application",
      "",
      "text/json",
    ])
      expectRejected(await ask(api, body, { "content-type": type }), "UNSUPPORTED_MEDIA_TYPE", `"${type}"`);
    for (const type of ["application/json; charset=utf-8", "APPLICATION/JSON", "application/json;charset=UTF-8"])
      expect((await ask(api, '{"no_such_field":1}', { "content-type": type })).status, type).not.toBe(415);
  };

  const rejectsTooMuch = async () => {
    const api = await clientFor(route, 3);
    const padded = (bytes: number) => `{"no_such_field":${" ".repeat(bytes - 19)}1}`;
    expect(Buffer.byteLength(padded(LIMIT_BYTES))).toBe(LIMIT_BYTES);
    expect((await ask(api, padded(LIMIT_BYTES))).status).not.toBe(413);
    expectRejected(await ask(api, padded(LIMIT_BYTES + 1)), "PAYLOAD_TOO_LARGE", "64 KiB + 1");
    expectRejected(await ask(api, `{"a":"${"é".repeat(LIMIT_BYTES / 2)}"}`), "PAYLOAD_TOO_LARGE", "bytes, not characters, count");
  };

  // One reader of bodies serves all routes: `npm test` shows one of its ways to reject one on each route.
  const ways: [how: string, expectHeld: () => Promise<void>][] = [
    ["a body that is not a JSON object is malformed", rejectsMalformed],
    ["deep nesting is rejected before parsing", rejectsNesting],
    ["a duplicate key is rejected, however it is escaped and wherever it is", rejectsRepeatedKeys],
    ["any content type but JSON is rejected", rejectsOtherTypes],
    ["a body of 64 KiB is accepted, one byte more is rejected", rejectsTooMuch],
  ];
  test.each(some(ways, ways.length, place))("%s", (_, expectHeld) => expectHeld());
});
