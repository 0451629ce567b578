// Versions: a single resource has an ETag, and a client that sends it in `If-Match` overwrites nothing that it has not seen.
import { deflateSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { Alert } from "../shared/api/alerts.ts";
import { Operation } from "../shared/api/operations.ts";
import { evaluateAlert, readAlerts } from "../shared/operations/monitoring/alerts.ts";
import { setQuota } from "../shared/operations/accounts/operator.ts";
import { freeSlots } from "../shared/data/slots.ts";
import { encodeStamp } from "../shared/data/stamps.ts";
import { keys } from "../shared/data/keys.ts";
import { updateOne } from "../shared/data/table.ts";
import { fingerprintOfId } from "../shared/domain/token-value.ts";
import { account, newPublicKey, type TestAccount, unique } from "./harness/account.ts";
import { type ApiResponse, type Client, anonymous } from "./harness/client.ts";
import { apiUrl } from "./harness/cloud.ts";
import { everyRoute, pathOf } from "./harness/requests.ts";
import { some } from "./harness/some.ts";
import { seedBackup, seedInstance, seedServer, seedSso, SSO_BODY } from "./harness/seed.ts";

const STRONG = /^"[A-Za-z0-9_-]{22}"$/;

let me: TestAccount;
beforeAll(async () => {
  me = await account();
  for (const kind of ["server", "instance"] as const) await setQuota(me.id, kind, 1_000);
});

interface Kind {
  what: string;
  /** Creates one, and returns its path. */
  make: () => Promise<string>;
  client: () => Promise<Client>;
  /** Bodies of changes, each of which creates another version. */
  changes: () => Record<string, unknown>[];
  deleted?: 200 | 202;
  /** Changes fields that do not count. */
  touch?: (path: string) => Promise<unknown>;
}

const token = async () => (await me.token()).api;
const session = async () => me.session(await me.anotherUser());
const idIn = (path: string): string => path.split("/").at(-1) ?? "";

const kinds: Kind[] = [
  {
    what: "a server",
    make: async () => `/servers/${(await seedServer(me.id)).id}`,
    client: token,
    changes: () => [{ name: unique("one") }, { name: unique("two") }],
    deleted: 202,
    touch: (path) => updateOne(keys.record("server", me.id, idIn(path)), { set: { failed_probes: 2 } }, {}),
  },
  {
    what: "an instance",
    make: async () => `/instances/${(await seedInstance(me.id)).id}`,
    client: token,
    changes: () => [{ name: "One" }, { admin_email: "two@example.com" }],
    deleted: 202,
    touch: (path) => updateOne(keys.record("instance", me.id, idIn(path)), { set: { server_ip: "203.0.113.99" } }, {}),
  },
  {
    what: "a backup policy",
    make: async () => {
      const path = `/instances/${(await seedInstance(me.id)).id}/backup-policy`;
      await (await token()).put(path, { schedule: "0 2 * * *", keep: { last: 3 } });
      return path;
    },
    client: token,
    changes: () => [
      { schedule: "0 3 * * *", keep: { last: 3 } },
      { schedule: "0 3 * * *", keep: { last: 4 } },
    ],
    deleted: 200,
    touch: (path) =>
      updateOne(keys.backupPolicy(me.id, path.split("/")[2] ?? ""), { set: { next_run_at: "2026-11-21T02:00:00.000Z" } }, {}),
  },
  {
    what: "the code of an instance",
    make: async () => `/instances/${(await seedInstance(me.id)).id}/code`,
    client: token,
    changes: () => [{ install_modules: ["one"] }, { python_packages: ["num2words==0.5.13"] }, { auto_deploy: "push" }],
    touch: async (path) => (await token()).post(`${path}/rotate-hook`, {}),
  },
  {
    what: "a backup",
    make: async () => `/backups/${(await seedBackup(await seedInstance(me.id))).id}`,
    client: token,
    changes: () => [{ note: "One" }, { locked: true }, { note: "Two", locked: false }],
    deleted: 202,
    touch: (path) => updateOne(keys.record("backup", me.id, idIn(path)), { add: { used_by: new Set(["op_none"]) } }, {}),
  },
  { what: "an SSH key", make: async () => `/ssh-keys/${(await me.sshKey()).id}`, client: token, changes: () => [], deleted: 200 },
  {
    what: "an API token",
    make: async () => `/tokens/${(await me.token()).id}`,
    client: session,
    changes: () => [],
    deleted: 200,
    touch: (path) =>
      updateOne(
        keys.tokenAccess(fingerprintOfId(idIn(path))),
        { set: { last_used_ip: "192.0.2.1", all: freeSlots(100).fill(encodeStamp(Date.now() - 120_000)) } },
        {},
      ),
  },
  {
    what: "a user",
    make: async () => `/users/${(await me.anotherUser()).id}`,
    client: session,
    changes: () => [
      { name: "One" },
      { role: "viewer" },
      { role: "custom", permissions: ["servers:read"] },
      { permissions: ["backups:read"] },
    ],
    deleted: 200,
    touch: (path) => updateOne(keys.user(idIn(path)), { set: { last_sign_in_at: "2026-11-21T02:00:00.000Z" } }, {}),
  },
  {
    what: "single sign-on",
    make: async () => {
      await seedSso(me.id);
      return "/settings/sso";
    },
    client: session,
    changes: () => [
      { ...SSO_BODY, client_id: "one" },
      { ...SSO_BODY, client_id: "one", default_role: "operator" },
    ],
    deleted: 200,
  },
  {
    what: "the settings of alerts",
    make: () => Promise.resolve("/settings/alerts"),
    client: token,
    changes: () => [{ memory_free_percent: [11] }, { memory_free_percent: [12] }, { certificate_days: null }],
  },
  {
    what: "the settings",
    make: () => Promise.resolve("/settings"),
    client: token,
    changes: () => [{ account_name: unique("One") }, { backup_retention_days: 30 }, { backup_retention_days: 31 }],
    touch: () => me.sshKey(),
  },
  {
    what: "a webhook",
    make: async () => `/webhooks/${await me.webhook()}`,
    client: token,
    changes: () => [{ name: "One" }, { enabled: false }, { events: ["token.create"] }],
    deleted: 200,
    touch: (path) => updateOne(keys.webhookHealth(me.id, idIn(path)), { set: { timeouts: 1 } }, { exists: false }),
  },
  {
    what: "an alert",
    make: async () => {
      const { id, name } = await seedServer(me.id);
      await evaluateAlert(await readAlerts(me.id), { kind: "memory_free", type: "server", id, measured: 3, name: () => name });
      const [alert] = (await me.api.get(`/alerts?resource_id=${id}`)).as(z.array(Alert));
      return `/alerts/${alert?.id}`;
    },
    client: token,
    changes: () => [1, 2, 3].map((days) => ({ muted_until: new Date(Date.now() + days * 86_400_000).toISOString() })),
  },
  {
    what: "what a sandbox instance holds",
    make: async () => `/sandbox/instances/${(await me.instance()).id}/data`,
    client: token,
    changes: () => [{ quotas: 1, last_seen_at: 1 }, { last_seen_at: 2, quotas: 1 }, { quotas: 2 }],
  },
];

const etagOf = ({ headers }: ApiResponse): string => headers["etag"] ?? "";
const failed = (etag: string) => ({ code: "PRECONDITION_FAILED", details: { etag } });

describe.each(some(kinds, 4))("$what", ({ make, client, changes, deleted, touch }) => {
  const ifMatch = (etag: string) => ({ headers: { "if-match": etag } });

  test("a resource has a strong ETag that changes with it, but not with fields that change on their own", async () => {
    const [path, api] = [await make(), await client()];
    const before = etagOf(await api.get(path));
    expect(before).toMatch(STRONG);
    await touch?.(path);
    expect(etagOf(await api.get(path))).toBe(before);
    const seen = new Set([before]);
    for (const body of changes()) {
      const changed = await api.put(path, body);
      expect(etagOf(changed)).toMatch(STRONG);
      expect(etagOf(await api.get(path))).toBe(etagOf(changed));
      seen.add(etagOf(changed));
    }
    expect(seen.size).toBe(1 + changes().length);
  });

  test("a change or deletion with If-Match needs the current version", async () => {
    const [path, api] = [await make(), await client()];
    const first = etagOf(await api.get(path));
    const attempts = [
      ...changes().map((body) => (etag: string) => api.put(path, body, ifMatch(etag))),
      ...(deleted === undefined ? [] : [(etag: string) => api.delete(path, ifMatch(etag))]),
    ];
    let etag = first;
    for (const attempt of attempts) {
      for (const wrong of ['"another"', `W/${etag}`, etag.slice(1, -1), "", '"a", "b"', `"x${etag}"`]) {
        const response = await attempt(wrong);
        expect(response.status, `${wrong}: ${response.text}`).toBe(412);
        expect(response.error).toMatchObject(failed(etag));
      }
      expect(etagOf(await api.get(path))).toBe(etag);
      await touch?.(path);
      const finalResponse = await attempt(`"another", ${etag}`);
      if (finalResponse.status === 412 || finalResponse.status >= 500) throw new Error(finalResponse.text);
      if (attempt === attempts.at(-1)) break;
      etag = etagOf(await api.get(path));
    }
    expect(attempts.length).toBeGreaterThan(0);
  });

  test("If-Match accepts * for any version, and a missing resource is 404 first", async () => {
    const [path, api] = [await make(), await client()];
    const [body] = changes();
    if (body !== undefined) {
      expect((await api.put(path, body, ifMatch("*"))).status).toBe(200);
      if (path.includes("_")) {
        const missing = path.replace(/_[0-9a-z]{4}/, "_0000");
        expect((await api.put(missing, body, ifMatch("*"))).status).toBe(404);
        expect((await api.put(missing, body, ifMatch('"x"'))).status).toBe(404);
      }
    }
    if (deleted === undefined) return;
    expect((await api.delete(path, ifMatch("*"))).status).toBe(deleted);
  });

  test("a client with the current version gets 304", async () => {
    const [path, api] = [await make(), await client()];
    const full = await api.get(path);
    for (const ifNoneMatch of [etagOf(full), `W/${etagOf(full)}`, `"x", ${etagOf(full)}`, "*"])
      for (const method of ["GET", "HEAD"]) {
        const response = await api.send(method, path, undefined, { headers: { "if-none-match": ifNoneMatch } });
        expect({ ifNoneMatch, status: response.status, text: response.text, etag: etagOf(response) }).toEqual({
          ifNoneMatch,
          status: 304,
          text: "",
          etag: etagOf(full),
        });
      }
    expect((await api.get(path, { headers: { "if-none-match": '"another"' } })).text).toBe(full.text);
  });
});

test("an operation's ETag is valid until it progresses", async () => {
  const server = (await me.api.post("/servers", await me.serverBody())).as(z.looseObject({ operation_id: z.string() }));
  await me.until(server.operation_id);
  const response = await me.api.get(`/operations/${server.operation_id}`);
  expect(response.as(Operation).status).toBe("succeeded");
  expect(etagOf(response)).toMatch(STRONG);
});

test("the OpenAPI description can be cached, and returns 304 while it is unchanged", async () => {
  const full = await anonymous.get("/openapi.json");
  expect(etagOf(full)).toMatch(/^W\/"/);
  for (const ifNoneMatch of [etagOf(full), etagOf(full).slice(2)]) {
    const response = await anonymous.get("/openapi.json", { headers: { "if-none-match": ifNoneMatch } });
    expect([response.status, response.text]).toEqual([304, ""]);
  }
  expect((await anonymous.get("/openapi.json", { headers: { "if-none-match": 'W/"other"' } })).status).toBe(200);
});

describe("compression", () => {
  const raw = async (
    path: string,
    acceptEncoding: string,
    { headers, ...init }: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {},
  ) => {
    const response = await fetch(`${apiUrl()}/api/v1${path}`, {
      ...init,
      headers: { authorization: `Bearer ${me.api.token}`, "accept-encoding": acceptEncoding, ...headers },
    });
    return {
      coding: response.headers.get("content-encoding"),
      text: await response.text(),
      length: response.headers.get("content-length"),
    };
  };

  test("responses of 1 KB and more have the encoding that the client accepts", async () => {
    const plain = await raw("/openapi.json", "identity");
    expect(plain.coding).toBeNull();
    expect(Number(plain.length)).toBe(Buffer.byteLength(plain.text));
    for (const [accepted, coding] of [
      ["gzip", "gzip"],
      ["deflate", "deflate"],
      ["br, gzip;q=0.5", null],
      ["gzip;q=0, deflate;q=0.1", "deflate"],
      ["*", "gzip"],
      ["gzip;q=0", null],
      ["br", null],
    ] as const) {
      const response = await raw("/openapi.json", accepted);
      expect([accepted, response.coding]).toEqual([accepted, coding]);
      expect(response.text).toBe(plain.text);
      if (coding !== null) expect(Number(response.length)).toBeLessThan(plain.text.length / 4);
    }
    expect((await raw("/health", "gzip")).coding).toBeNull();
  });

  test("compressed bodies are decompressed, and rejected if they are invalid or too large", async () => {
    const send = (body: Buffer, coding: string) =>
      raw("/ssh-keys", "identity", {
        method: "POST",
        body: new Uint8Array(body),
        headers: { "content-type": "application/json", "content-encoding": coding },
      });
    const text = JSON.stringify({ name: "Compressed", public_key: newPublicKey() });
    for (const [body, coding] of [
      [gzipSync(text), "gzip"],
      [deflateSync(text), "deflate"],
    ] as const)
      expect(JSON.parse((await send(body, coding)).text)).toMatchObject({ success: true });
    expect(JSON.parse((await send(Buffer.from(text), "gzip")).text)).toMatchObject({ error: { code: "MALFORMED_REQUEST" } });
    const bomb = gzipSync(Buffer.alloc(11 * 1024 * 1024, " "));
    expect(JSON.parse((await send(bomb, "gzip")).text)).toMatchObject({ error: { code: "PAYLOAD_TOO_LARGE" } });
  });
});

test("the tests of versions cover every single resource", () => {
  const tagged = everyRoute.filter(({ unversioned, method }) => unversioned !== undefined && method === "GET");
  expect(tagged.map((route) => pathOf(route, "x"))).toEqual([
    "/servers/x",
    "/instances/x",
    "/instances/x/backup-policy",
    "/instances/x/code",
    "/deploys/x", // test/deploys
    "/backups/x",
    "/backups/uploads/x", // test/uploads
    "/operations/x",
    "/overview", // test/overview
    "/ssh-keys/x",
    "/settings",
    "/settings/sso",
    "/settings/alerts",
    "/alerts/x",
    "/webhooks/x",
    "/tokens/x",
    "/users/x",
    "/openapi.json",
    "/sandbox/instances/x/data",
  ]);
});
