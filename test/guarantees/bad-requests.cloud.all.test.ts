// Whatever any endpoint gets, over HTTP or at the bare socket: never a 5xx, always the envelope, and nothing changes.
import { connect } from "node:net";
import fc from "fast-check";
import { expect } from "vitest";
import { queryAll } from "../../shared/data/table.ts";
import { keys } from "../../shared/data/keys.ts";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { apiUrl, processCloud } from "../harness/cloud.ts";
import { giveUpEarly } from "../harness/held-work.ts";
import type { Client } from "../harness/client.ts";
import { bodyOf, everyRoute, fieldsOf, idKindOf } from "../harness/requests.ts";
import { prove } from "./prove.ts";
import { newRecords } from "./world.ts";

/** Requests of a trial, within the limits of one credential. */
const REQUESTS = 18;

/** Values that often break parsers and stores, besides those that fast-check generates. */
const NASTY: readonly unknown[] = [
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
  "2026-02-30T25:00:00Z",
  -0,
  1e308,
  Number.MAX_SAFE_INTEGER + 2,
  -1,
  0.1,
  true,
  null,
  [],
  {},
  [[[[]]]],
  { toString: 1, valueOf: null },
  { length: 1e9 },
];
const nasty = fc.constantFrom(...NASTY);
const value = fc.oneof(nasty, fc.jsonValue({ maxDepth: 4 }), fc.string({ unit: "binary", maxLength: 300 }));

/** Mostly valid bodies, with some of the route's own fields replaced and some unknown ones added. */
function bodiesOf(route: (typeof everyRoute)[number]): fc.Arbitrary<string | undefined> {
  const names = fieldsOf(route.body).fields.map(([name]) => name);
  const damaged = fc
    .dictionary(fc.oneof(fc.constantFrom(...names, "no_such_field"), fc.string({ maxLength: 20 })), value, {
      minKeys: 1,
      maxKeys: 4,
    })
    .map((changes) => JSON.stringify({ ...bodyOf(route), ...changes }));
  return fc.oneof(
    { weight: 4, arbitrary: damaged },
    { weight: 2, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 500 }) },
    { weight: 1, arbitrary: fc.constantFrom("", "{", '{"a":1,"a":2}', "[".repeat(10_000), `{"a":"${"x".repeat(70_000)}"}`) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
}

/** Text that may appear in a path or a query: encoded, because the gateway rejects anything else before our code runs. */
const word = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }).filter((text) => text.isWellFormed()),
  fc.constantFrom("0", "-1", "null", "a".repeat(1_100), "\u0000", "💥", "__proto__"),
);
const queryOf = (route: (typeof everyRoute)[number]) =>
  fc.array(
    fc.tuple(
      fc.oneof(
        fc.constantFrom("page", "per_page", "cursor", "wait", "dry_run", ...fieldsOf(route.query).fields.map(([name]) => name)),
        word,
      ),
      word,
    ),
    {
      maxLength: 4,
    },
  );
const headers = fc.dictionary(
  fc.constantFrom(
    "idempotency-key",
    "if-match",
    "if-none-match",
    "x-request-id",
    "content-type",
    "accept",
    "accept-encoding",
    "x-forwarded-for",
  ),
  fc.oneof(
    fc.constantFrom("", "*", '"', "application/json; charset=utf-7", "text/plain", "gzip", "a".repeat(300)),
    fc.string({ maxLength: 60 }),
  ),
  { maxKeys: 3 },
);
const isHeader = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** Every record of the account. Failed requests may count against limits, but change none of these. */
async function everythingOf({ id }: TestAccount): Promise<string> {
  const kinds = ["server", "instance", "backup", "operation", "event"] as const;
  const partitions = [
    ...kinds.map((kind) => keys.record(kind, id, "").pk),
    keys.sshKeys(id),
    keys.tokens(id),
    keys.domain(id, "").pk,
    keys.upload(id, "").pk,
    keys.backupPolicy(id, "").pk,
    keys.users(id),
    keys.account(id).pk,
  ];
  return JSON.stringify(await Promise.all(partitions.map((pk) => queryAll(pk, { consistent: true }))));
}

/** Bytes at the socket, in place of an HTTP client's requests. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 400 }).map((each) => Buffer.from(each)),
  fc
    .tuple(
      fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "TRACE", "get", "G E T", "QUERY"),
      word,
      fc.constantFrom("HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9"),
      fc.string({ maxLength: 80 }),
    )
    .map(([method, path, version, line]) =>
      Buffer.from(`${method} ${BASE_PATH}/${encodeURI(path.slice(0, 40))} ${version}\r\nHost: x\r\n${line}\r\n\r\n`),
    ),
  fc.constantFrom(
    ...[
      "POST /api/v1/servers HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /",
      "POST /api/v1/servers HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "POST /api/v1/servers HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
      "GET /api/v1/health HTTP/1.1\r\nHost: x\r\nX: \u0000\r\n\r\n",
      `GET /api/v1/${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      `GET /api/v1/health HTTP/1.1\r\nHost: x\r\n${"X: y\r\n".repeat(3_000)}\r\n`,
      "GET http://127.0.0.1:1/api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET //api/v1//health HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET /api/v1/../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET /api/v1/health HTTP/1.1\r\n\r\n",
    ].map((text) => Buffer.from(text, "latin1")),
  ),
);

/** The status line of the response; empty if the connection ends without one. */
const atSocket = (sent: Buffer): Promise<string> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(apiUrl());
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.end(sent));
    socket.setTimeout(2_000, () => socket.destroy());
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1").split("\r\n")[0] ?? ""));
  });

const AT_SOCKET = "bytes at the socket";
const routes = new Map(everyRoute.map((route) => [route.title, route]));

/** What a trial has to damage: credentials of its own, because a request may end them. */
async function target(route: (typeof everyRoute)[number]): Promise<{ me: TestAccount; api: Client; ids: string[] }> {
  const { me, ids } = await newRecords();
  const session = route.access === "session" || route.fieldRole !== undefined;
  const api = session ? await me.session(await me.anotherUser()) : (await me.token()).api;
  const id = route.path.includes(":id") ? ids[idKindOf(route)] : undefined;
  return { me, api, ids: id === undefined ? [] : [id] };
}

prove("bad-requests", async () => {
  const cloud = await processCloud();
  giveUpEarly(cloud);
  const bystander = await account();
  const sample = <T>(arbitrary: fc.Arbitrary<T>, seed: number, count = REQUESTS): T[] =>
    fc.sample(arbitrary, { seed, numRuns: count });

  async function overHttp(route: (typeof everyRoute)[number], seed: number): Promise<void> {
    const { me, api, ids: ownIds } = await target(route);
    const ownChoices = ownIds.map((id) => ({ weight: 6, arbitrary: fc.constant(id) }));
    const ids = route.path.includes(":id")
      ? fc.oneof({ weight: 2, arbitrary: word }, { weight: 1, arbitrary: fc.constant(unusedId(idKindOf(route))) }, ...ownChoices)
      : fc.constant("");
    const cases = sample(fc.tuple(ids, queryOf(route), bodiesOf(route), headers), seed);
    let before = await everythingOf(me);
    let failed = "";
    for (const [id, pairs, body, sent] of cases) {
      const path = route.path.replace(":id", encodeURIComponent(id));
      const search = pairs.map(([name, text]) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`).join("&");
      const bad = `${route.method} ${path}?${search} ${String(body)}`;
      // The client checks the envelope of every response.
      const response = await api.send(route.method, `${path}?${search}`, route.method === "GET" ? undefined : body, {
        from: `127.0.${1 + (seed & 63)}.3`,
        headers: Object.fromEntries(Object.entries(sent).filter(([, text]) => isHeader(text))),
      });
      expect(response.status, `${bad}\n${response.text}`).toBeLessThan(500);
      if (response.status >= 300) failed += `${bad}\n`;
      else {
        // A good one among them: its change is none of theirs. (A download is in the audit log.)
        await cloud.states.settled();
        before = await everythingOf(me);
        failed = "";
      }
    }
    if (failed !== "") expect(await everythingOf(me), `failed requests changed something: ${failed}`).toBe(before);
  }

  async function socketTrial(seed: number): Promise<void> {
    const lines = await Promise.all(sample(bytes, seed).map(async (sent) => ({ sent, line: await atSocket(sent) })));
    for (const { sent, line } of lines) expect(line, sent.toString("latin1")).not.toMatch(/^HTTP\/1\.\d 5/);
    expect((await bystander.api.get("/auth/me")).status, "the service after bytes at its socket").toBeLessThan(500);
  }

  return {
    points: [...routes.keys(), ...Array.from({ length: 5 }, (_, i) => `${AT_SOCKET} ${i}`)],
    trial: async ({ point, random, counts }) => {
      counts(REQUESTS);
      const seed = random.below(2 ** 31);
      const route = routes.get(point);
      return route === undefined ? socketTrial(seed) : overHttp(route, seed);
    },
  };
});
