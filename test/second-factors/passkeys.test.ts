// Passkeys: POST /auth/second-factors/passkeys/options and /passkeys, DELETE /auth/second-factors/:id, and signing in with one
import { beforeAll, expect, test } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import * as events from "../../shared/api/events.ts";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { account, type TestAccount, type TestUser } from "../harness/account.ts";
import { Authenticator } from "../harness/authenticator.ts";
import { type Client, statusesOf, anonymous } from "../harness/client.ts";
import {
  addPasskey,
  challengeFor,
  newAddress,
  NOT_VALID,
  optionsIn,
  prove,
  sessionIn,
  signIn,
} from "../harness/second-factors.ts";

let me: TestAccount;
let user: TestUser;
let session: Client;
let passkey: Authenticator;
beforeAll(async () => {
  me = await account();
  user = await me.anotherUser();
  session = await me.session(user);
  passkey = await addPasskey(session);
});

/** Each wrong try counts for the user: tests with many have their own. */
async function another() {
  const newUser = await me.anotherUser();
  const newSession = await me.session(newUser);
  return { user: newUser, session: newSession, passkey: await addPasskey(newSession) };
}

const factorsOf = async (client: Client) => (await client.get("/auth/second-factors")).as(secondFactors.list().data);
const beginAlone = async () => (await anonymous.post("/auth/login/passkey/options", {})).as(secondFactors.PasskeyOptions);
const signInAlone = (assertion: secondFactors.Assertion) =>
  anonymous.post("/auth/login/passkey", { assertion }, { from: newAddress() });

test("a passkey is the second step of a sign-in, which names the user's passkeys", async () => {
  const challenge = await challengeFor(user);
  expect(challenge.methods).toEqual(["passkey"]);
  const options = optionsIn(challenge);
  expect(options).toMatchObject({ rpId: "localhost", userVerification: "preferred", challenge: challenge.challenge });
  expect(options.allowCredentials).toHaveLength(1);
  const assertion = passkey.get(options, { verified: false }); // the password has said who it is
  const proven = await prove({ challenge: challenge.challenge, method: "passkey", assertion });
  // The sign-in, and what follows in the session, say how it was opened.
  expect((await sessionIn(proven).put(`/users/${user.id}`, { name: "New name" })).status).toBe(200);
  const logged = (await me.api.get(`/events?actor=${user.id}&per_page=2`)).as(events.list().data);
  expect(logged.map(({ type, actor }) => [type, actor.signed_in_with])).toEqual([
    ["user.update", "passkey"],
    ["auth.login", "passkey"],
  ]);
  expect(await factorsOf(session)).toMatchObject([{ name: "Laptop", last_used_at: expect.any(String) }]);
  expect((await prove({ challenge: challenge.challenge, method: "passkey", assertion })).error).toEqual(NOT_VALID);
});

test("a passkey alone signs in, once, if it has verified who uses it", async () => {
  const options = await beginAlone();
  expect(options).toMatchObject({ userVerification: "required", allowCredentials: [] });
  expect((await signInAlone(passkey.get(options, { verified: false }))).error).toEqual(NOT_VALID);
  const assertion = passkey.get(options);
  const both = await Promise.all([signInAlone(assertion), signInAlone(assertion)]);
  expect(statusesOf(both)).toEqual([200, 401]);
  const proven = both.find(({ status }) => status === 200) ?? expect.fail("One succeeds");
  const listed = (await sessionIn(proven).get("/auth/sessions")).as(auth.listSessions().data);
  expect(listed.find(({ current }) => current)?.second_factor_at).toEqual(expect.any(String));
});

test("a removed passkey signs nobody in, and the password alone is enough after the last", async () => {
  const other = await another();
  const options = await beginAlone();
  const [factor] = await factorsOf(other.session);
  const removed = await Promise.all([0, 1].map(() => other.session.delete(`/auth/second-factors/${factor?.id}`)));
  expect(statusesOf(removed)).toEqual([200, 404]);
  expect((await signInAlone(other.passkey.get(options))).error).toEqual(NOT_VALID);
  expect((await signIn(other.user)).status).toBe(200);
});
