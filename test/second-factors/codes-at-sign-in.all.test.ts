// Codes that are used twice at once, guessed, or too late for their challenge.
import { beforeAll, expect, test } from "vitest";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { account, type TestAccount, type TestUser } from "../harness/account.ts";
import { type Client, statusesOf } from "../harness/client.ts";
import { appOf, challengeFor, newAddress, newCodes, NOT_VALID, prove, setUpApp, signIn } from "../harness/second-factors.ts";

let me: TestAccount;
let user: TestUser;
let session: Client;
let codes: string[];
beforeAll(async () => {
  me = await account();
  user = await me.anotherUser();
  session = await me.session(user);
  await setUpApp(session);
  codes = await newCodes(session);
});

/** What a proof names of it. */
const ask = async (whose: { email: string; password: string }) => ({ challenge: (await challengeFor(whose)).challenge });

/** Each test has recovery codes of its own. */
const nextCode = (): string => codes.pop() ?? expect.fail("There are ten codes");

test("a challenge works once, also for two requests at once", async () => {
  const { challenge } = await ask(user);
  const proofs = [nextCode(), nextCode()].map((code) => prove({ challenge, method: "recovery_code", code }));
  expect(statusesOf(await Promise.all(proofs))).toEqual([200, 401]);
});

test("a challenge has five tries, the right code is no exception, and another challenge has its own", async () => {
  const other = await me.anotherUser();
  const session = await me.session(other);
  await setUpApp(session);
  const [code = ""] = await newCodes(session);
  const { challenge } = await ask(other);
  const wrong = () => prove({ challenge, method: "totp", code: "000000" });
  for (let i = 0; i < 5; i++) expect((await wrong()).error).toEqual(NOT_VALID);
  expect((await prove({ challenge, method: "recovery_code", code })).error).toEqual(NOT_VALID);
  expect((await prove({ ...(await ask(other)), method: "recovery_code", code })).status).toBe(200);
});

test("after ten wrong codes of a user, over all challenges and from anywhere, the right one is 429", async () => {
  const other = await me.anotherUser();
  const session = await me.session(other);
  await setUpApp(session);
  const [code = ""] = await newCodes(session);
  for (let i = 0; i < 10; i++) expect((await prove({ ...(await ask(other)), method: "totp", code: "000000" })).status).toBe(401);
  const limited = await prove({ ...(await ask(other)), method: "recovery_code", code });
  expect(limited.error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", details: { limit: 10, scope: "login" } });
  // Nobody else's codes are used up.
  expect((await prove({ ...(await ask(user)), method: "recovery_code", code: nextCode() })).status).toBe(200);
});

test("a challenge is not valid after a password change, nor once the factor was removed", async () => {
  const other = await me.anotherUser();
  const session = await me.session(other);
  await setUpApp(session);
  const [first = "", second = ""] = await newCodes(session);
  const before = await ask(other);
  const changed = "another long password";
  await session.put("/auth/password", { current_password: other.password, new_password: changed });
  expect((await prove({ ...before, method: "recovery_code", code: first })).error).toEqual(NOT_VALID);
  const open = await ask({ ...other, password: changed });
  const [factor] = (await session.get("/auth/second-factors")).as(secondFactors.list().data);
  expect((await session.delete(`/auth/second-factors/${factor?.id}`)).status).toBe(200);
  expect((await prove({ ...open, method: "recovery_code", code: second })).error).toEqual(NOT_VALID);
  expect((await signIn({ ...other, password: changed })).status).toBe(200); // nothing is asked for any more
});

test("after ten wrong codes for an app that is set up, the right one is 429", async () => {
  const other = await me.anotherUser();
  const session = await me.session(other);
  const { secret } = (await session.post("/auth/second-factors/totp", {})).as(secondFactors.beginTotp().data);
  const from = newAddress(); // wrong tries count for it, too
  const confirm = (code: string) => session.post("/auth/second-factors/totp/confirm", { code }, { from });
  for (let tries = 0; tries < 10; tries++) expect((await confirm("000000")).error).toEqual(NOT_VALID);
  const limited = await confirm(appOf(secret).code());
  expect(limited.status).toBe(429);
  expect(limited.error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", details: { limit: 10, scope: "login" } });
});
