// What the authorizer decides, and what it passes on: called as API Gateway calls it, in this process, with the clock in the
// test's hands.
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type { APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { decodeJwt, decodeProtectedHeader, SignJWT } from "jose";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { handler } from "../../functions/authorize.ts";
import { toGatewayResource } from "../../shared/api/index.ts";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import { ALL_PERMISSIONS } from "../../shared/api/permissions.ts";
import { callerRef, endWait } from "../../shared/operations/credentials/admission.ts";
import { Caller } from "../../shared/records/schemas/caller.ts";
import { find, updateOne } from "../../shared/data/table.ts";
import { labelRef, tokenAccessRef } from "../../shared/records/tokens.ts";
import { endOfSession, endSession, openSession, userAccessRef, userRef } from "../../shared/records/users.ts";
import { newId } from "../../shared/domain/ids.ts";
import { keyVersions } from "../../shared/platform/secrets.ts";
import { signSession, verifySession } from "../../shared/runtime/jwt.ts";
import { CLIENT_ADDRESS_HEADER, ORIGIN_KEY_HEADER } from "../../shared/runtime/origin.ts";
import { Limits } from "../../shared/runtime/request-context.ts";
import { account, type TestAccount } from "../harness/account.ts";

const ORIGIN_KEY = "key-of-this-test";
process.env["ORIGIN_KEYS"] = ORIGIN_KEY;
const ADDRESS = "192.0.2.7";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

/** A millisecond within a second, so that rounding shows. */
let at: number;
beforeEach(() => {
  at = Math.floor(Date.now() / 1000) * 1000 + 400;
  vi.useFakeTimers({ toFake: ["Date"], now: at });
});
afterEach(() => void vi.useRealTimers());

interface Ask {
  method?: string;
  path?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
}

async function ask(authorization: string | undefined, { method = "GET", path = "/settings", query, headers }: Ask = {}) {
  const event = {
    httpMethod: method,
    resource: toGatewayResource(path),
    path: `${BASE_PATH}/whatever`,
    headers: {
      ...(authorization !== undefined && { Authorization: authorization }),
      ...(headers ?? { [ORIGIN_KEY_HEADER]: ORIGIN_KEY, [CLIENT_ADDRESS_HEADER]: ADDRESS }),
    },
    queryStringParameters: query ?? null,
    multiValueQueryStringParameters:
      query === undefined ? null : Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value]])),
    requestContext: { requestId: "of-the-gateway", identity: { sourceIp: "198.51.100.1" } },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the authorizer reads of it
  const policy = await handler(event as unknown as APIGatewayRequestAuthorizerEvent);
  const [statement] = policy.policyDocument.Statement;
  return { policy, effect: statement?.Effect, context: policy.context ?? {} };
}

const callerIn = ({ context }: Awaited<ReturnType<typeof ask>>): Caller => Caller.parse(JSON.parse(String(context["caller"])));
const limitsIn = ({ context }: Awaited<ReturnType<typeof ask>>): Limits => Limits.parse(JSON.parse(String(context["limits"])));

const everywhere = (Effect: "Allow" | "Deny") => ({
  Version: "2012-10-17",
  Statement: [{ Action: "execute-api:Invoke", Effect, Resource: "*" }],
});
const REJECTED = {
  principalId: "anonymous",
  policyDocument: everywhere("Deny"),
  context: { request_id: "of-the-gateway", ip_address: ADDRESS },
};

/** A user with an open session, and its JWT. */
async function newSession() {
  const { id } = await me.anotherUser();
  const user = await find(userRef(id));
  if (user === undefined) throw new Error("There is no such user");
  const sessionId = newId("session");
  await openSession(user, sessionId);
  const session = { userId: id, accountId: me.id, sessionId };
  return { ...session, jwt: await signSession(session, endOfSession(sessionId)) };
}

const many = (count: number, work: () => Promise<unknown>) => Promise.all(Array.from({ length: count }, work));

describe("an API token", () => {
  test("is accepted with its account, its permissions and its limits, and its use is recorded", async () => {
    const { id, value } = await me.token(["servers:read", "backups:write"]);
    const { policy } = await ask(`Bearer ${value}`);
    expect({ ...policy, context: undefined }).toEqual({
      principalId: id,
      policyDocument: everywhere("Allow"),
      context: undefined,
    });
    const { caller, limits, ...rest } = policy.context ?? {};
    expect(rest).toEqual({ request_id: "of-the-gateway", ip_address: ADDRESS });
    expect(JSON.parse(String(caller))).toEqual({
      account_id: me.id,
      type: "token",
      id,
      permissions: ["servers:read", "backups:write"],
      ip_address: ADDRESS,
    });
    expect(JSON.parse(String(limits))).toEqual({ limit: 100, remaining: 99, reset: Math.ceil((at + 60_000) / 1000) });
    expect(await find(tokenAccessRef(id))).toMatchObject({ last_used_ip: ADDRESS, all: expect.arrayContaining([at]) });
  });

  test.each([
    ["the scheme in any case", (value: string) => `bEARER ${value}`],
    ["white space around it", (value: string) => `  Bearer   ${value} `],
  ])("is accepted with %s", async (_, written) => {
    expect((await ask(written((await me.token()).value))).effect).toBe("Allow");
  });

  test.each([
    ["no header", () => undefined],
    ["an empty header", () => ""],
    ["another scheme", (value: string) => `Basic ${value}`],
    ["no scheme", (value: string) => value],
    ["a scheme that only ends like it", (value: string) => `XBearer ${value}`],
    ["no white space", (value: string) => `Bearer${value}`],
    ["two values", (value: string) => `Bearer ${value} ${value}`],
    ["no value", () => "Bearer "],
    ["a value that is neither a token nor a JWT", () => "Bearer something"],
    ["a JWT of nobody", () => "Bearer e30.e30.e30"],
    ["a value with a wrong checksum", (value: string) => `Bearer ${value.slice(0, -1)}${value.endsWith("0") ? "1" : "0"}`],
    ["a value of the other environment", (value: string) => `Bearer ${value.replace("svc_test_", "svc_live_")}`],
  ])("is rejected with %s", async (_, written) => {
    expect((await ask(written((await me.token()).value))).policy).toEqual(REJECTED);
  });

  test("is rejected from the millisecond at which it expires, also when its limits are reached", async () => {
    const token = await me.token(undefined, new Date(at + 1_000).toISOString());
    vi.setSystemTime(at + 999);
    expect((await ask(`Bearer ${token.value}`)).effect).toBe("Allow");
    await many(99, () => ask(`Bearer ${token.value}`));
    expect(limitsIn(await ask(`Bearer ${token.value}`)).refused).toBeDefined();
    vi.setSystemTime(at + 1_000);
    expect((await ask(`Bearer ${token.value}`)).policy).toEqual(REJECTED);
  });

  test("is rejected if only a part of its hash is right, also when its limits are reached", async () => {
    const { id, value } = await me.token();
    await many(100, () => ask(`Bearer ${value}`));
    const access = await find(tokenAccessRef(id));
    const hash = Buffer.from(access?.hash ?? []);
    hash.writeUInt8(hash.readUInt8(hash.length - 1) ^ 1, hash.length - 1);
    await updateOne(tokenAccessRef(id).key, { set: { hash } }, {});
    expect((await ask(`Bearer ${value}`)).policy).toEqual(REJECTED);
    vi.setSystemTime(at + 60_000);
    expect((await ask(`Bearer ${value}`)).policy).toEqual(REJECTED);
  });

  test("has a name where its label is, and a user where the user is", () => {
    const by = { account_id: me.id, id: "of-one", permissions: [], ip_address: null };
    expect(callerRef({ ...by, type: "token" }).key).toEqual(labelRef(me.id, "of-one").key);
    expect(callerRef({ ...by, type: "user" }).key).toEqual(userRef("of-one").key);
  });
});

describe("a session", () => {
  test("is accepted with its user, its account and the permissions of an owner", async () => {
    const { userId, sessionId, jwt } = await newSession();
    const response = await ask(`Bearer ${jwt}`);
    expect(response.policy).toMatchObject({ principalId: userId, policyDocument: everywhere("Allow") });
    expect(callerIn(response)).toEqual({
      account_id: me.id,
      type: "user",
      id: userId,
      permissions: ALL_PERMISSIONS,
      role: "owner",
      session_id: sessionId,
      ip_address: ADDRESS,
    });
    expect(limitsIn(response)).toEqual({ limit: 100, remaining: 99, reset: Math.ceil((at + 60_000) / 1000) });
  });

  test("is rejected once it has ended, also when its user's limits are reached, and the user's other sessions are not", async () => {
    const one = await newSession();
    const user = await find(userRef(one.userId));
    const sessionId = newId("session");
    if (user !== undefined) await openSession(user, sessionId);
    const other = await signSession({ ...one, sessionId }, endOfSession(sessionId));
    await endSession(one.userId, one.sessionId);
    expect((await ask(`Bearer ${one.jwt}`)).policy).toEqual(REJECTED);
    await many(100, () => ask(`Bearer ${other}`));
    expect((await ask(`Bearer ${one.jwt}`)).policy).toEqual(REJECTED);
    expect(limitsIn(await ask(`Bearer ${other}`)).refused).toMatchObject({ scope: "all" });
  });

  test("is rejected 12 hours after it was opened, even if its JWT should be valid for longer", async () => {
    await keyVersions("SESSION_KEY"); // read at the real time, because the call is signed
    vi.setSystemTime(at - 12 * 3_600_000);
    const session = await newSession();
    const end = endOfSession(session.sessionId).getTime();
    expect(end).toBe(at);
    const jwt = await signSession(session, new Date(at + 3_600_000));
    vi.setSystemTime(end - 1);
    expect((await ask(`Bearer ${jwt}`)).effect).toBe("Allow");
    vi.setSystemTime(end);
    expect((await ask(`Bearer ${jwt}`)).policy).toEqual(REJECTED);
  });

  test("of a user who has none open is rejected", async () => {
    const { id } = await me.anotherUser();
    const session = { userId: id, accountId: me.id, sessionId: newId("session") };
    expect((await ask(`Bearer ${await signSession(session, new Date(at + 60_000))}`)).policy).toEqual(REJECTED);
    expect((await find(userAccessRef(id)))?.all.some((time) => time > 0)).toBe(false);
  });
});

describe("the JWT of a session", () => {
  test("has what the authorizer checks, and nothing else", async () => {
    const session = { userId: newId("user"), accountId: me.id, sessionId: newId("session") };
    const jwt = await signSession(session, new Date(at + 5_000));
    const { current } = await keyVersions("SESSION_KEY");
    expect(decodeProtectedHeader(jwt)).toEqual({ alg: "HS256", kid: current.id, typ: "JWT" });
    expect(decodeJwt(jwt)).toEqual({
      sub: session.userId,
      acc: session.accountId,
      sid: session.sessionId,
      iss: "erp-control-plane",
      aud: "test",
      iat: Math.floor(at / 1000),
      exp: Math.ceil((at + 5_000) / 1000),
    });
    expect(await verifySession(jwt)).toEqual(session);
  });

  test.each([
    ["sub", { sub: "nobody" }],
    ["acc", { acc: 1 }],
    ["sid", { sid: "tok_other" }],
    ["exp", { exp: undefined }],
    ["iss", { iss: "another" }],
    ["aud", { aud: "live" }],
  ])("is not one of ours with another %s, although the signature is right", async (_, changed) => {
    const claims = { sub: newId("user"), acc: me.id, sid: newId("session"), iss: "erp-control-plane", aud: "test" };
    const { current } = await keyVersions("SESSION_KEY");
    const signed = (payload: Record<string, unknown>, header = {}) =>
      new SignJWT(payload).setProtectedHeader({ alg: "HS256", kid: current.id, typ: "JWT", ...header }).sign(current.key);
    const exp = Math.floor(at / 1000) + 60;
    expect(await verifySession(await signed({ ...claims, exp }))).toBeDefined();
    expect(await verifySession(await signed({ ...claims, exp, ...changed }))).toBeUndefined();
    expect(await verifySession(await signed({ ...claims, exp }, { cty: "JWT" }))).toBeUndefined();
  });

  test.each(["", "a", "a.b", "..", "a.b.c", "e30.e30.e30", "e30..e30", "e30.e30.", "bnVsbA.e30.e30"])(
    "%j is none",
    async (text) => {
      expect(await verifySession(text)).toBeUndefined();
    },
  );

  test("with another last character that decodes to the same bytes is not ours, nor one with a fourth part", async () => {
    const session = { userId: newId("user"), accountId: me.id, sessionId: newId("session") };
    const jwt = await signSession(session, new Date(at + 5_000));
    const decoded = (text: string) => Buffer.from(text.split(".")[2] ?? "", "base64url").toString("hex");
    const twins = Array.from(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
      (last) => jwt.slice(0, -1) + last,
    ).filter((text) => text !== jwt && decoded(text) === decoded(jwt));
    expect(twins.length).toBeGreaterThan(0);
    for (const twin of [...twins, `${jwt}.`, `${jwt}.e30`, `${jwt}=`]) expect(await verifySession(twin)).toBeUndefined();
  });

  test("cannot be checked while the keys cannot be read: that is an error of ours, not of the client", async () => {
    const { current } = await keyVersions("SESSION_KEY");
    const unknown = new SignJWT({}).setProtectedHeader({ alg: "HS256", kid: "newer", typ: "JWT" });
    const jwt = await unknown.sign(current.key);
    vi.setSystemTime(at + 48 * 3_600_000); // the keys that are known are too old
    const calls = vi.spyOn(SecretsManagerClient.prototype, "send").mockImplementation(() => {
      throw new Error("unreachable");
    });
    try {
      await expect(ask(`Bearer ${jwt}`)).rejects.toThrow("unreachable");
    } finally {
      calls.mockRestore();
    }
  });
});

describe("limits", () => {
  test("the 101st request is passed on with the error, and a request is accepted when the oldest is a minute old", async () => {
    const { value } = await me.token();
    await ask(`Bearer ${value}`);
    vi.setSystemTime(at + 10_000);
    await many(99, () => ask(`Bearer ${value}`));
    vi.setSystemTime(at + 20_001);
    const limited = await ask(`Bearer ${value}`);
    expect(limited.effect).toBe("Allow");
    expect(callerIn(limited)).toMatchObject({ type: "token" });
    expect(limitsIn(limited)).toEqual({
      limit: 100,
      remaining: 0,
      reset: Math.ceil((at + 60_000) / 1000),
      refused: { scope: "all", limit: 100, retry_after: 40 },
    });
    vi.setSystemTime(at + 59_999);
    expect(limitsIn(await ask(`Bearer ${value}`)).refused).toMatchObject({ retry_after: 1 });
    vi.setSystemTime(at + 60_000);
    expect(limitsIn(await ask(`Bearer ${value}`))).toEqual({
      limit: 100,
      remaining: 0,
      reset: Math.ceil((at + 70_000) / 1000),
    });
  });

  test("20 requests may create or delete; others go on, and show that limit, because less of it is left", async () => {
    const { value } = await me.token();
    const remove = () => ask(`Bearer ${value}`, { method: "DELETE", path: "/ssh-keys/:id" });
    expect(limitsIn(await remove())).toMatchObject({ limit: 20, remaining: 19 });
    await many(19, remove);
    expect(limitsIn(await remove())).toMatchObject({ limit: 20, remaining: 0, refused: { scope: "create_delete", limit: 20 } });
    const other = limitsIn(await ask(`Bearer ${value}`));
    expect(other).toMatchObject({ limit: 20, remaining: 0 });
    expect(other.refused).toBeUndefined();
  });

  test("a request that reaches both limits gets the error of the one that rejects it", async () => {
    const { value } = await me.token();
    await many(80, () => ask(`Bearer ${value}`));
    await many(20, () => ask(`Bearer ${value}`, { method: "DELETE", path: "/ssh-keys/:id" }));
    expect(limitsIn(await ask(`Bearer ${value}`)).refused).toMatchObject({ scope: "all", limit: 100 });
    expect(limitsIn(await ask(`Bearer ${value}`, { method: "DELETE", path: "/ssh-keys/:id" })).refused).toMatchObject({
      scope: "create_delete",
    });
  });

  test("the limit of which the smaller share is left is shown", async () => {
    const { value } = await me.token();
    // 17 of 20, and 97 of 100; then 17 of 20, and 80 of 100.
    await many(3, () => ask(`Bearer ${value}`, { method: "POST", path: "/ssh-keys" }));
    expect(limitsIn(await ask(`Bearer ${value}`))).toMatchObject({ limit: 20, remaining: 17 });
    await many(11, () => ask(`Bearer ${value}`));
    expect(limitsIn(await ask(`Bearer ${value}`))).toMatchObject({ limit: 100, remaining: 84 });
  });

  test("a dry run counts as a request that creates nothing", async () => {
    const { id, value } = await me.token();
    const remove = (dryRun: string) =>
      ask(`Bearer ${value}`, { method: "DELETE", path: "/servers/:id", query: { dry_run: dryRun } });
    await remove("true");
    expect((await find(tokenAccessRef(id)))?.create_delete).not.toContain(at);
    await remove("false");
    expect((await find(tokenAccessRef(id)))?.create_delete).toContain(at);
  });

  test("HEAD counts as GET; a method that the path lacks is passed on without a caller, and counts nothing", async () => {
    const { id, value } = await me.token();
    expect((await ask(`Bearer ${value}`, { method: "PATCH" })).policy).toEqual({
      principalId: "anonymous",
      policyDocument: everywhere("Allow"),
      context: { request_id: "of-the-gateway", ip_address: ADDRESS },
    });
    expect((await find(tokenAccessRef(id)))?.all).not.toContain(at);
    expect(callerIn(await ask(`Bearer ${value}`, { method: "HEAD" }))).toMatchObject({ id });
    expect((await find(tokenAccessRef(id)))?.all.filter((time) => time === at)).toHaveLength(1);
  });
});

describe("a request that waits", () => {
  const OPERATION = "/operations/:id";
  const waiting = (value: string, wait: string, path = OPERATION) => ask(`Bearer ${value}`, { path, query: { wait } });

  test("gets one of three places until its wait is over, and the next has none until a place is released", async () => {
    const { id, value } = await me.token();
    const until = at + (10 + 8) * 1000;
    const callers = [];
    for (const place of ["w0", "w1", "w2"]) {
      const caller = callerIn(await waiting(value, "10"));
      expect(caller.wait).toEqual({ place, until });
      callers.push(caller);
    }
    const fourth = await waiting(value, "10");
    expect(fourth.effect).toBe("Allow");
    expect(callerIn(fourth)).not.toHaveProperty("wait");
    for (const [i, caller] of callers.entries()) if (i === 1) await endWait(caller);
    expect(callerIn(await waiting(value, "10")).wait).toEqual({ place: "w1", until });
    await endWait({ ...callerIn(fourth) });
    expect(callerIn(await waiting(value, "10"))).not.toHaveProperty("wait");
    expect(await find(tokenAccessRef(id))).toBeDefined();
    vi.setSystemTime(until);
    expect(callerIn(await waiting(value, "1")).wait).toEqual({ place: "w0", until: until + 9_000 });
  });

  test("of a user releases the user's place", async () => {
    const { jwt } = await newSession();
    const callers = [];
    for (let i = 0; i < 3; i++) callers.push(callerIn(await waiting(jwt, "5")));
    expect(callerIn(await waiting(jwt, "5"))).not.toHaveProperty("wait");
    const [first] = callers;
    if (first !== undefined) await endWait(first);
    expect(callerIn(await waiting(jwt, "5")).wait).toMatchObject({ place: "w0" });
  });

  test.each(["0", "21", "-1", "soon", ""])("for %j seconds takes no place", async (wait) => {
    expect(callerIn(await waiting((await me.token()).value, wait))).not.toHaveProperty("wait");
  });

  test("takes no place where nothing can be waited for, or without the parameter", async () => {
    const { value } = await me.token();
    expect(callerIn(await waiting(value, "10", "/settings"))).not.toHaveProperty("wait");
    expect(callerIn(await ask(`Bearer ${value}`, { path: OPERATION }))).not.toHaveProperty("wait");
    expect(callerIn(await ask(`Bearer ${value}`, { path: OPERATION, query: { other: "10" } }))).not.toHaveProperty("wait");
  });

  test("is limited without a place", async () => {
    const { value } = await me.token();
    await many(100, () => ask(`Bearer ${value}`));
    const limited = await waiting(value, "10");
    expect(limitsIn(limited).refused).toBeDefined();
    expect(callerIn(limited)).not.toHaveProperty("wait");
  });
});

test("a request that bypassed CloudFront is rejected, whatever its credential, and counts nothing", async () => {
  const { id, value } = await me.token();
  for (const headers of [{}, { [ORIGIN_KEY_HEADER]: "another", [CLIENT_ADDRESS_HEADER]: ADDRESS }])
    expect((await ask(`Bearer ${value}`, { headers })).policy).toEqual({
      principalId: "anonymous",
      policyDocument: everywhere("Deny"),
      context: { request_id: "of-the-gateway" },
    });
  expect((await find(tokenAccessRef(id)))?.all).not.toContain(at);
});

test("a failure of the table is an error of ours, not a rejection", async () => {
  const { value } = await me.token();
  const calls = vi.spyOn(DynamoDBDocumentClient.prototype, "send").mockImplementation(() => {
    throw new Error("unreachable");
  });
  try {
    await expect(ask(`Bearer ${value}`)).rejects.toThrow("unreachable");
  } finally {
    calls.mockRestore();
  }
});
