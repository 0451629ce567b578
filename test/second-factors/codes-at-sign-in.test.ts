// POST /auth/second-factors/totp and /totp/confirm, POST /auth/second-factors/recovery-codes, and signing in with their codes
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import * as auth from "../../shared/api/auth.ts";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { find, updateOne } from "../../shared/data/table.ts";
import { keys } from "../../shared/data/keys.ts";
import { userRef } from "../../shared/records/users.ts";
import { account, type TestAccount, type TestUser } from "../harness/account.ts";
import { type Client, statusesOf } from "../harness/client.ts";
import { newestMail } from "../harness/links.ts";
import {
  appOf,
  challengeFor,
  newAddress,
  newCodes,
  NOT_VALID,
  prove,
  sessionIn,
  setUpApp,
  signIn,
  type UsedApp,
} from "../harness/second-factors.ts";

let me: TestAccount;
let user: TestUser;
let session: Client;
let app: UsedApp;
let codes: string[];
beforeAll(async () => {
  me = await account();
  user = await me.anotherUser();
  session = await me.session(user);
  app = await setUpApp(session);
  codes = await newCodes(session);
});

/** What a proof names of it. */
const ask = async (whose: { email: string; password: string }) => ({ challenge: (await challengeFor(whose)).challenge });

/** Each test has recovery codes of its own. */
const nextCode = (): string => codes.pop() ?? expect.fail("There are ten codes");
const shown = async (client: Client) => (await client.get("/auth/me")).as(auth.me().data).user?.second_factors;

test("signing in needs the password, then a code, and both work once", async () => {
  expect((await signIn({ ...user, password: "a wrong password" })).error?.message).toBe("Invalid email or password");
  const asked = await signIn(user);
  expect([asked.status, asked.error?.code]).toEqual([401, "SECOND_FACTOR_REQUIRED"]);
  const { challenge, methods, passkey_options } = await challengeFor(user);
  expect([methods, passkey_options]).toEqual([["totp", "recovery_code"], null]);
  // That code has set the app up.
  expect((await prove({ challenge, method: "totp", code: app.used })).error).toEqual(NOT_VALID);
  const code = app.code(1);
  const challenges = [await ask(user), await ask(user)];
  const both = await Promise.all(challenges.map((each) => prove({ ...each, method: "totp", code })));
  expect(statusesOf(both)).toEqual([200, 401]);
  const proven = both.find(({ status }) => status === 200) ?? expect.fail("One succeeds");
  expect(Object.keys(proven.as(auth.login().data))).toEqual(["token", "expires_at", "user"]);
  const sessions = (await sessionIn(proven).get("/auth/sessions")).as(auth.listSessions().data);
  expect(sessions.find(({ current }) => current)?.second_factor_at).toEqual(expect.any(String));
});

test("a challenge works once, also for two requests at once", async () => {
  const { challenge } = await ask(user);
  const proofs = [nextCode(), nextCode()].map((code) => prove({ challenge, method: "recovery_code", code }));
  expect(statusesOf(await Promise.all(proofs))).toEqual([200, 401]);
});

test("a recovery code works once, also for two challenges at once, and fewer are left", async () => {
  const { recovery_codes_left: before = 0 } = (await shown(session)) ?? {};
  const code = nextCode().toUpperCase().replaceAll("-", " ");
  const challenges = [await ask(user), await ask(user)];
  const proofs = challenges.map((each) => prove({ ...each, method: "recovery_code", code }));
  expect(statusesOf(await Promise.all(proofs))).toEqual([200, 401]);
  expect(await shown(session)).toEqual({ passkeys: 0, totp: true, recovery_codes_left: before - 1 });
});

test("new recovery codes replace those from before, which the table has as hashes only", async () => {
  const old = nextCode();
  codes = await newCodes(session);
  expect((await prove({ ...(await ask(user)), method: "recovery_code", code: old })).error).toEqual(NOT_VALID);
  const stored = await find({ key: keys.recoveryCodes(user.id), schema: z.object({ hashes: z.set(z.string()) }) });
  expect(stored?.hashes.size).toBe(10);
  for (const code of codes) expect([...(stored?.hashes ?? [])].join(" ")).not.toContain(code);
});

test("a challenge has five tries, the right code is no exception, and another challenge has its own", async () => {
  const other = await me.anotherUser();
  const theirs = await me.session(other);
  await setUpApp(theirs);
  const [code = ""] = await newCodes(theirs);
  const { challenge } = await ask(other);
  const wrong = () => prove({ challenge, method: "totp", code: "000000" });
  for (let i = 0; i < 5; i++) expect((await wrong()).error).toEqual(NOT_VALID);
  expect((await prove({ challenge, method: "recovery_code", code })).error).toEqual(NOT_VALID);
  expect((await prove({ ...(await ask(other)), method: "recovery_code", code })).status).toBe(200);
});

test("after ten wrong codes of a user, over all challenges and from anywhere, the right one is 429", async () => {
  const other = await me.anotherUser();
  const theirs = await me.session(other);
  await setUpApp(theirs);
  const [code = ""] = await newCodes(theirs);
  for (let i = 0; i < 10; i++) expect((await prove({ ...(await ask(other)), method: "totp", code: "000000" })).status).toBe(401);
  const limited = await prove({ ...(await ask(other)), method: "recovery_code", code });
  expect(limited.error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", details: { limit: 10, scope: "login" } });
  // Nobody else's codes are used up.
  expect((await prove({ ...(await ask(user)), method: "recovery_code", code: nextCode() })).status).toBe(200);
});

test("a challenge is not valid after a password change, nor once the factor was removed", async () => {
  const other = await me.anotherUser();
  const theirs = await me.session(other);
  await setUpApp(theirs);
  const [first = "", second = ""] = await newCodes(theirs);
  const before = await ask(other);
  const changed = "another long password";
  await theirs.put("/auth/password", { current_password: other.password, new_password: changed });
  expect((await prove({ ...before, method: "recovery_code", code: first })).error).toEqual(NOT_VALID);
  const open = await ask({ ...other, password: changed });
  const [factor] = (await theirs.get("/auth/second-factors")).as(secondFactors.list().data);
  expect((await theirs.delete(`/auth/second-factors/${factor?.id}`)).status).toBe(200);
  expect((await prove({ ...open, method: "recovery_code", code: second })).error).toEqual(NOT_VALID);
  expect((await signIn({ ...other, password: changed })).status).toBe(200); // nothing is asked for any more
});

test("after ten wrong codes for an app that is set up, the right one is 429", async () => {
  const other = await me.anotherUser();
  const theirs = await me.session(other);
  const { secret } = (await theirs.post("/auth/second-factors/totp", {})).as(secondFactors.beginTotp().data);
  const from = newAddress(); // wrong tries count for it, too
  const confirm = (code: string) => theirs.post("/auth/second-factors/totp/confirm", { code }, { from });
  for (let tries = 0; tries < 10; tries++) expect((await confirm("000000")).error).toEqual(NOT_VALID);
  const limited = await confirm(appOf(secret).code());
  expect(limited.status).toBe(429);
  expect(limited.error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", details: { limit: 10, scope: "login" } });
});

test("an app is set up by its code within ten minutes, once, and its user gets a mail", async () => {
  const other = await me.anotherUser();
  const theirs = await me.session(other);
  expect((await theirs.post("/auth/second-factors/recovery-codes", {})).error?.code).toBe("CONFLICT");
  const confirm = (code: string) => theirs.post("/auth/second-factors/totp/confirm", { code });
  expect((await confirm("000000")).error).toEqual(NOT_VALID);
  await theirs.post("/auth/second-factors/totp", {});
  await updateOne(keys.totpSetUp(other.id), { set: { expires_at: new Date(Date.now() - 1).toISOString() } }, {});
  expect((await confirm("000000")).error).toEqual(NOT_VALID);
  await setUpApp(theirs);
  expect(await newestMail(me.id, "second_factor_added", other.id)).toMatchObject({ factor: "Authenticator app" });
  expect((await find(userRef(other.id)))?.totp).toBe(true);
  expect((await theirs.post("/auth/second-factors/totp", {})).error?.code).toBe("CONFLICT");
  expect((await confirm("000000")).error?.code).toBe("CONFLICT");
});
