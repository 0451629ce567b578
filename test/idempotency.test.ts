// `Idempotency-Key`: a retried request has one effect and one response.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import * as instances from "../shared/api/instances.ts";
import { SshKey } from "../shared/api/ssh-keys.ts";
import * as tokens from "../shared/api/tokens.ts";
import { keys } from "../shared/data/keys.ts";
import { updateOne } from "../shared/data/table.ts";
import { account, newPublicKey, type TestAccount, type TestToken, unique, unusedId } from "./harness/account.ts";
import type { Client } from "./harness/client.ts";
import { bodyOf, everyRoute, pathOf } from "./harness/requests.ts";
import { seedServer } from "./harness/seed.ts";
import { everyItem } from "./harness/table.ts";

let me: TestAccount;
let token: TestToken;
let api: Client;
beforeAll(async () => {
  me = await account();
});
beforeEach(async () => {
  token = await me.token();
  api = token.api;
});

const keyed = (key: string) => ({ headers: { "idempotency-key": key } });
const sshKeyBody = () => ({ name: "Laptop", public_key: newPublicKey() });

test("a retry gets the same response, marked as a replay, and has no second effect", async () => {
  const body = sshKeyBody();
  const first = await api.post("/ssh-keys", body, keyed("again"));
  expect(first.headers).not.toHaveProperty("idempotent-replayed");
  const before = await me.trace();
  for (let i = 0; i < 3; i++) {
    const again = await api.post("/ssh-keys", body, { headers: { "idempotency-key": "again", "x-request-id": `try-${i}` } });
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(again.headers["location"]).toBe(first.headers["location"]);
    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect(again.headers["x-request-id"]).toBe(`try-${i}`);
  }
  expect(await me.trace()).toBe(before);
});

test("the same fields in a different order are the same request", async () => {
  const { name, public_key } = sshKeyBody();
  const first = await api.post("/ssh-keys", { name, public_key }, keyed("order"));
  const again = await api.post(
    "/ssh-keys",
    ` { "public_key" : ${JSON.stringify(public_key)}, "name" : "${name}" } `,
    keyed("order"),
  );
  expect(again.text).toBe(first.text);
});

test("the stored response stays even if its resource is deleted in the meantime", async () => {
  const body = sshKeyBody();
  const first = (await api.post("/ssh-keys", body, keyed("gone"))).as(SshKey);
  await api.delete(`/ssh-keys/${first.id}`);
  expect((await api.post("/ssh-keys", body, keyed("gone"))).as(SshKey)).toEqual(first);
});

describe("the same key", () => {
  test("a reused key with a different body is an error, and has no effect", async () => {
    await api.post("/ssh-keys", sshKeyBody(), keyed("reused"));
    const before = await me.trace();
    const response = await api.post("/ssh-keys", sshKeyBody(), keyed("reused"));
    expect(response.status).toBe(422);
    expect(response.error?.code).toBe("IDEMPOTENCY_KEY_REUSED");
    expect(await me.trace()).toBe(before);
  });

  test("a reused key on a different path is an error", async () => {
    await api.post("/ssh-keys", sshKeyBody(), keyed("path"));
    const response = await api.post("/servers", await me.serverBody(), keyed("path"));
    expect(response.error?.code).toBe("IDEMPOTENCY_KEY_REUSED");
  });

  test("a key can be used again after 24 hours", async () => {
    const body = sshKeyBody();
    const first = await api.post("/ssh-keys", body, keyed("old"));
    await updateOne(
      keys.idempotency(me.id, token.id, "old"),
      { set: { expires_at: new Date(Date.now() - 1000).toISOString() } },
      {},
    );
    const later = await api.post("/ssh-keys", body, keyed("old"));
    expect(later.as(SshKey).id).not.toBe(first.as(SshKey).id);
    expect((await api.post("/ssh-keys", body, keyed("old"))).text).toBe(later.text);
  });
});

test("only successes are stored: after an error, the same key works for the corrected request", async () => {
  const wrong = await api.post("/ssh-keys", { name: "Laptop", public_key: "none" }, keyed("retry"));
  expect(wrong.status).toBe(422);
  expect((await api.post("/ssh-keys", sshKeyBody(), keyed("retry"))).status).toBe(201);
  const missing = await api.post(`/instances/${unusedId("instance")}/backups`, {}, keyed("missing"));
  expect(missing.status).toBe(404);
  expect((await api.post("/ssh-keys", sshKeyBody(), keyed("missing"))).status).toBe(201);
});

describe("secrets", () => {
  test("a retry returns the token's value again, but no secret is stored in plain text", async () => {
    const session = await me.session();
    const body = { name: unique("secret"), permissions: ["servers:read"] };
    const first = (await session.post("/tokens", body, keyed("token"))).as(tokens.create().data);
    expect((await session.post("/tokens", body, keyed("token"))).as(tokens.create().data).token).toBe(first.token);
    expect((await everyItem()).filter((item) => item.includes(first.token.slice(9, 30)))).toEqual([]);
  });

  test("a retry returns the generated password again, but neither it nor the request is stored in plain text", async () => {
    const server = await seedServer(me.id);
    const body = await me.instanceBody({ server_id: server.id });
    const first = (await api.post("/instances", body, keyed("password"))).as(instances.create().data);
    const again = (await api.post("/instances", body, keyed("password"))).as(instances.create().data);
    expect(first.admin_password).toMatch(/.{16,}/);
    expect(again).toEqual(first);
    const password = first.admin_password ?? "";
    expect((await everyItem()).filter((item) => item.includes(password))).toEqual([]);
  });
});

describe("the key's form", () => {
  test.each(["a", "~", "with spaces and !@#$%^&*()", "x".repeat(255)])('"%s" is a valid key', async (key) => {
    expect((await api.post("/ssh-keys", sshKeyBody(), keyed(key))).status).toBe(201);
  });

  test.each(["x".repeat(256), "", "ü", "a\tb"])('"%s" is not a valid key', async (key) => {
    const before = await me.trace();
    const { error } = await api.post("/ssh-keys", sshKeyBody(), keyed(key));
    expect(error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "Idempotency-Key" } });
    expect(await me.trace()).toBe(before);
  });
});

/** Deploy hooks are left out: what calls them has no key to send, and a second call within a minute deploys nothing more. */
const posts = everyRoute.filter(({ method, path }) => method === "POST" && !/^\/(?:auth|hooks)\//.test(path));
test.each(posts)("$title supports an Idempotency-Key", async (route) => {
  const client = route.access === "session" ? await me.session() : api;
  const { error } = await client.post(pathOf(route), bodyOf(route), keyed("x".repeat(256)));
  expect(error).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "Idempotency-Key" } });
});

test("signing in ignores an Idempotency-Key: every sign-in creates a session", async () => {
  const { email, password } = me.user;
  const login = async () =>
    (await api.post("/auth/login", { email, password }, keyed("login"))).as(z.object({ token: z.string() })).token;
  expect(await login()).not.toBe(await login());
});
