// POST /auth/login
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import * as auth from "../../shared/api/auth.ts";
import { beginLoginAttempt } from "../../shared/operations/credentials/login-limits.ts";
import { LOGIN_FAILURES } from "../../shared/domain/limits.ts";
import { account, type TestAccount, unique } from "../harness/account.ts";
import { anonymous } from "../harness/client.ts";
import { fieldsOf, mistakesIn } from "../harness/requests.ts";
import { everyItem } from "../harness/table.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

// Failed sign-ins count by source address, so every test has its own.
let addresses = 10;
const nextAddress = (): string => `127.0.3.${addresses++}`;

const login = (email: string, password: string, from: string) => anonymous.post("/auth/login", { email, password }, { from });
const WRONG = { success: false, error: { code: "UNAUTHORIZED", message: "Invalid email or password" } };

test("signing in returns the user and a JWT that is valid for twelve hours", async () => {
  const before = Date.now();
  const data = (await login(me.user.email, me.user.password, nextAddress())).as(auth.login().data);
  expect(data.user).toEqual({ id: me.user.id, email: me.user.email, name: me.user.name });
  const lasts = 12 * 3_600_000;
  expect(Date.parse(data.expires_at)).toBeGreaterThanOrEqual(before + lasts - 1000); // in whole seconds
  expect(Date.parse(data.expires_at)).toBeLessThanOrEqual(Date.now() + lasts);
  const [, claims = ""] = data.token.split(".");
  const { exp } = z.object({ exp: z.number() }).parse(JSON.parse(Buffer.from(claims, "base64url").toString()));
  expect(exp, "no sooner than announced").toBe(Math.ceil(Date.parse(data.expires_at) / 1000));
  expect((await anonymous.get("/auth/me", { token: data.token })).as(auth.me().data)).toMatchObject({
    user: data.user,
    token: null,
  });
});

test("signing in does not store the JWT in the table", async () => {
  const { token } = (await login(me.user.email, me.user.password, nextAddress())).as(auth.login().data);
  const [, , signature = ""] = token.split(".");
  expect((await everyItem()).filter((item) => item.includes(signature) || item.includes(me.user.password))).toEqual([]);
});

test("sign-ins that succeed in the same millisecond count as no failure", async () => {
  const [email, from] = [`${unique("many")}@example.com`, nextAddress()];
  const attempts = await Promise.all(Array.from({ length: LOGIN_FAILURES.pair }, () => beginLoginAttempt(email, from)));
  await Promise.all(attempts.map(({ succeeded }) => succeeded()));
  const again = Promise.all(Array.from({ length: LOGIN_FAILURES.pair }, () => beginLoginAttempt(email, from)));
  await expect(again).resolves.toHaveLength(LOGIN_FAILURES.pair);
});

test("signing in ignores the case of the email", async () => {
  expect((await login(me.user.email.toUpperCase(), me.user.password, nextAddress())).status).toBe(200);
});

test("a wrong password and an unknown email get the same response", async () => {
  const from = nextAddress();
  const headers = { "x-request-id": "same" };
  const ask = (email: string, password: string) => anonymous.post("/auth/login", { email, password }, { from, headers });
  const [wrong, unknown] = [await ask(me.user.email, "not the password"), await ask("nobody@example.com", me.user.password)];
  expect(wrong.status).toBe(401);
  expect(wrong.body).toEqual(WRONG);
  expect(unknown.status).toBe(401);
  expect(unknown.text).toBe(wrong.text);
  expect(Object.keys(unknown.headers)).toEqual(Object.keys(wrong.headers));
});

test("malformed emails and passwords are treated as wrong ones", async () => {
  const from = nextAddress();
  for (const text of ["__proto__", "\u0000", "💥", "a\nb", " ", "#"]) {
    expect((await login(text, "x", from)).body).toEqual(WRONG);
    const address = nextAddress();
    expect((await login(me.user.email, text, address)).body).toEqual(WRONG);
  }
});

describe("invalid bodies", () => {
  const { fields } = fieldsOf(auth.login().body);
  const good = { email: "a@example.com", password: "p" };

  test.each(fields)("an invalid %s is a validation error on that field", async (name, field) => {
    for (const { what, value } of [...mistakesIn(field), { what: "missing", value: undefined }]) {
      const { error } = await anonymous.post("/auth/login", { ...good, [name]: value }, { from: "127.0.3.1" });
      expect(error, what).toMatchObject({ code: "VALIDATION_ERROR", details: { field: name } });
    }
  });

  test.each([
    ["with an unknown field", { ...good, remember: true }, {}, "VALIDATION_ERROR"],
    ["that is not JSON", "{", {}, "MALFORMED_REQUEST"],
    ["of another type than JSON", good, { "content-type": "text/plain" }, "UNSUPPORTED_MEDIA_TYPE"],
    ["that is too large", `{"email":"${"a".repeat(65_536)}"}`, {}, "PAYLOAD_TOO_LARGE"],
  ])("a sign-in body %s gets the same error as on every other endpoint", async (_, body, headers, code) => {
    const { error } = await anonymous.post("/auth/login", body, { headers, from: "127.0.3.1" });
    expect(error).toMatchObject({ code });
  });
});

describe("failures in fifteen minutes", () => {
  test("ten failed sign-ins for an email lock out that email from that address only, even with the right password", async () => {
    const user = await me.anotherUser();
    const [attacker, owner] = [nextAddress(), nextAddress()];
    const began = Date.now();
    for (let i = 0; i < 10; i++) expect((await login(user.email, "guess", attacker)).status).toBe(401);
    const rejected = await login(user.email, user.password, attacker);
    expect(rejected.status).toBe(429);
    expect(rejected.error).toMatchObject({
      code: "RATE_LIMIT_EXCEEDED",
      details: { limit: 10, window_seconds: 900, scope: "login" },
    });
    const wait = Number(rejected.headers["retry-after"]);
    expect(wait).toBeGreaterThanOrEqual(900 - Math.ceil((Date.now() - began) / 1000));
    expect(wait).toBeLessThanOrEqual(900);
    expect((await login(user.email.toUpperCase(), user.password, attacker)).status).toBe(429);
    expect((await login(user.email, user.password, owner)).status).toBe(200);
    expect((await login(me.user.email, me.user.password, attacker)).status).toBe(200);
  });
});
