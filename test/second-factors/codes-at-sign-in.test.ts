// POST /auth/second-factors/totp and /totp/confirm, POST /auth/second-factors/recovery-codes, and signing in with their codes
import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import * as auth from "../../shared/api/auth.ts";
import { find, updateOne } from "../../shared/data/table.ts";
import { keys } from "../../shared/data/keys.ts";
import { userRef } from "../../shared/records/users.ts";
import { account, type TestAccount, type TestUser } from "../harness/account.ts";
import { type Client, statusesOf } from "../harness/client.ts";
import { newestMail } from "../harness/links.ts";
import {
  challengeFor,
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
const showFactors = async (client: Client) => (await client.get("/auth/me")).as(auth.me().data).user?.second_factors;

test("signing in needs the password, then a code, and both work once", async () => {
  expect((await signIn({ ...user, password: "a wrong password" })).error?.message).toBe("Invalid email or password");
  const response = await signIn(user);
  expect([response.status, response.error?.code]).toEqual([401, "SECOND_FACTOR_REQUIRED"]);
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

test("a recovery code works once, also for two challenges at once, and fewer are left", async () => {
  const { recovery_codes_left: before = 0 } = (await showFactors(session)) ?? {};
  const code = nextCode().toUpperCase().replaceAll("-", " ");
  const challenges = [await ask(user), await ask(user)];
  const proofs = challenges.map((each) => prove({ ...each, method: "recovery_code", code }));
  expect(statusesOf(await Promise.all(proofs))).toEqual([200, 401]);
  expect(await showFactors(session)).toEqual({ passkeys: 0, totp: true, recovery_codes_left: before - 1 });
});

test("new recovery codes replace those from before, which the table has as hashes only", async () => {
  const old = nextCode();
  codes = await newCodes(session);
  expect((await prove({ ...(await ask(user)), method: "recovery_code", code: old })).error).toEqual(NOT_VALID);
  const stored = await find({ key: keys.recoveryCodes(user.id), schema: z.object({ hashes: z.set(z.string()) }) });
  expect(stored?.hashes.size).toBe(10);
  for (const code of codes) expect([...(stored?.hashes ?? [])].join(" ")).not.toContain(code);
});

test("an app is set up by its code within ten minutes, once, and its user gets a mail", async () => {
  const other = await me.anotherUser();
  const session = await me.session(other);
  expect((await session.post("/auth/second-factors/recovery-codes", {})).error?.code).toBe("CONFLICT");
  const confirm = (code: string) => session.post("/auth/second-factors/totp/confirm", { code });
  expect((await confirm("000000")).error).toEqual(NOT_VALID);
  await session.post("/auth/second-factors/totp", {});
  await updateOne(keys.totpSetUp(other.id), { set: { expires_at: new Date(Date.now() - 1).toISOString() } }, {});
  expect((await confirm("000000")).error).toEqual(NOT_VALID);
  await setUpApp(session);
  expect(await newestMail(me.id, "second_factor_added", other.id)).toMatchObject({ factor: "Authenticator app" });
  expect((await find(userRef(other.id)))?.totp).toBe(true);
  expect((await session.post("/auth/second-factors/totp", {})).error?.code).toBe("CONFLICT");
  expect((await confirm("000000")).error?.code).toBe("CONFLICT");
});
