// Whatever any route gets, it never fails with a 5xx error and always uses the envelope (the client checks that for every response).
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { ALL } from "../harness/some.ts";
import { bodyOf, everyRoute, fieldsOf, idKindOf } from "../harness/requests.ts";

/** Different ones in each run. */
const RUNS = ALL ? 20 : 4;

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

/** Values that often break parsers and stores, besides those that fast-check generates. */
const nasty = fc.constantFrom<unknown>(
  "",
  "\u0000",
  "\ud800",
  "__proto__",
  "constructor",
  "a".repeat(3_000),
  "💥",
  "-0",
  "1e400",
  "..",
  "#",
  -0,
  1e308,
  Number.MAX_SAFE_INTEGER + 2,
  [],
  {},
  null,
  [[[[]]]],
  { toString: 1, valueOf: null },
);
const value = fc.oneof(nasty, fc.jsonValue({ maxDepth: 4 }), fc.string({ unit: "binary", maxLength: 300 }));

/** Mostly valid bodies, with some of the route's own fields replaced and some unknown ones added. */
function bodiesOf(route: (typeof everyRoute)[number]): fc.Arbitrary<string | undefined> {
  const names = fieldsOf(route.body).fields.map(([name]) => name);
  const damaged = fc
    .dictionary(fc.oneof(fc.constantFrom(...names, "no_such_field"), fc.string({ maxLength: 20 })), value, { maxKeys: 4 })
    .map((changes) => JSON.stringify({ ...bodyOf(route), ...changes }));
  return fc.oneof(
    { weight: 4, arbitrary: damaged },
    { weight: 2, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 500 }) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
}

/** Text that may appear in a path or a query: encoded, because the gateway rejects anything else before our code runs. */
const word = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }).filter((text) => text.isWellFormed()),
  fc.constantFrom("0", "-1", "null", "a".repeat(1_100), "\u0000", "💥", "__proto__"),
);
const query = fc.array(
  fc.tuple(fc.oneof(fc.constantFrom("page", "per_page", "cursor", "status", "wait", "server_id"), word), word),
  { maxLength: 4 },
);

async function clientFor(access: unknown): Promise<Client> {
  return access === "session" ? me.session(await me.anotherUser()) : (await me.token()).api;
}

describe.each(everyRoute)("$title", (route) => {
  test("the endpoint never fails with a 5xx error, whatever it gets", async () => {
    const api = await clientFor(route.access);
    const ids = route.path.includes(":id") ? fc.oneof(word, fc.constant(unusedId(idKindOf(route)))) : fc.constant("");
    await fc.assert(
      fc.asyncProperty(ids, query, bodiesOf(route), async (id, pairs, body) => {
        const path = route.path.replace(":id", encodeURIComponent(id));
        const search = pairs.map(([name, text]) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`).join("&");
        const response = await api.send(route.method, `${path}?${search}`, route.method === "GET" ? undefined : body, {
          from: "127.0.1.3",
        });
        expect(response.status, `${route.method} ${path}?${search} ${String(body)}\n${response.text}`).toBeLessThan(500);
      }),
      { numRuns: RUNS },
    );
  });
});
