// Passkeys that are used wrongly, too often, or twice at once.
import { beforeAll, expect, test } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import { BASE_PATH } from "../../shared/api/base-path.ts";
import * as events from "../../shared/api/events.ts";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { account, type TestAccount, type TestUser } from "../harness/account.ts";
import { Authenticator } from "../harness/authenticator.ts";
import { type Client, statusesOf, anonymous } from "../harness/client.ts";
import { addPasskey, challengeFor, newAddress, NOT_VALID, optionsIn, prove, setUpApp } from "../harness/second-factors.ts";

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
const optionsOf = async (client: Client) =>
  (await client.post("/auth/second-factors/passkeys/options", {})).as(secondFactors.passkeyOptions().data);
const add = (client: Client, attestation: secondFactors.Attestation) =>
  client.post("/auth/second-factors/passkeys", { name: "Key", attestation });
const suspicionsOf = async ({ id }: TestUser) =>
  (await me.api.get(`/events?type=second_factor.suspicious&resource_id=${id}`)).as(events.list().data);
const beginAlone = async () => (await anonymous.post("/auth/login/passkey/options", {})).as(secondFactors.PasskeyOptions);
const signInAlone = (assertion: secondFactors.Assertion) =>
  anonymous.post("/auth/login/passkey", { assertion }, { from: newAddress() });

test("a challenge of one purpose is none of another", async () => {
  const [alone, second] = [await beginAlone(), await challengeFor(user)];
  expect((await signInAlone(passkey.get(optionsIn(second)))).error).toEqual(NOT_VALID);
  const assertion = passkey.get(alone);
  expect((await prove({ challenge: alone.challenge, method: "passkey", assertion })).error).toEqual(NOT_VALID);
  const swapped = passkey.get(optionsIn(await challengeFor(user)));
  expect((await prove({ challenge: second.challenge, method: "passkey", assertion: swapped })).error).toEqual(NOT_VALID);
  const { challenge } = await optionsOf(session);
  expect((await prove({ challenge, method: "passkey", assertion: passkey.get({ ...alone, challenge }) })).error).toEqual(
    NOT_VALID,
  );
});

test("the challenge of a new passkey allows five tries, and ten wrong ones of a user are 429, then also at the sign-in", async () => {
  const other = await another();
  const from = newAddress(); // wrong tries count for it, too
  const addFrom = (attestation: secondFactors.Attestation) =>
    other.session.post("/auth/second-factors/passkeys", { name: "Key", attestation }, { from });
  const wrong = { origin: "https://evil.example" };
  const options = await optionsOf(other.session);
  for (let tries = 0; tries < 5; tries++)
    expect((await addFrom(new Authenticator().create(options, wrong))).error).toEqual(NOT_VALID);
  expect((await addFrom(new Authenticator().create(options))).error).toEqual(NOT_VALID);
  const next = await optionsOf(other.session);
  for (let tries = 6; tries < 10; tries++)
    expect((await addFrom(new Authenticator().create(next, wrong))).error).toEqual(NOT_VALID);
  const limited = await addFrom(new Authenticator().create(next));
  expect(limited.status).toBe(429);
  expect(limited.error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", details: { limit: 10, scope: "login" } });
  const challenge = await challengeFor(other.user);
  const assertion = other.passkey.get(optionsIn(challenge));
  expect((await prove({ challenge: challenge.challenge, method: "passkey", assertion })).status).toBe(429);
  expect(await factorsOf(other.session)).toHaveLength(1);
});

test("a counter that goes back is refused, and an event says so", async () => {
  const other = await another();
  const use = async () => {
    const challenge = await challengeFor(other.user);
    return prove({ challenge: challenge.challenge, method: "passkey", assertion: other.passkey.get(optionsIn(challenge)) });
  };
  other.passkey.counter = 9;
  expect((await use()).status).toBe(200);
  other.passkey.counter = 9;
  expect((await use()).error).toEqual(NOT_VALID);
  expect(await suspicionsOf(other.user)).toHaveLength(1);
  other.passkey.counter = 10;
  expect((await use()).status).toBe(200);
  expect(await suspicionsOf(other.user)).toHaveLength(1);
});

test("a passkey that does not count stays at zero", async () => {
  const other = await another();
  for (let i = 0; i < 2; i++) {
    other.passkey.counter = -1; // each use adds one
    const challenge = await challengeFor(other.user);
    const assertion = other.passkey.get(optionsIn(challenge));
    expect((await prove({ challenge: challenge.challenge, method: "passkey", assertion })).status).toBe(200);
  }
});

test("a passkey of another user is none of this one's, and is not signed in as", async () => {
  const other = await another();
  const challenge = await challengeFor(user);
  const otherAssertion = other.passkey.get(optionsIn(challenge));
  expect((await prove({ challenge: challenge.challenge, method: "passkey", assertion: otherAssertion })).error).toEqual(
    NOT_VALID,
  );
  const { userHandle } = passkey.get(optionsIn(challenge)).response;
  const renamed = other.passkey.get(await beginAlone(), { userHandle: String(userHandle) });
  expect((await signInAlone(renamed)).error).toEqual(NOT_VALID);
});

test("a new passkey needs the options of its own session, once", async () => {
  const other = await another();
  const options = await optionsOf(other.session);
  const attestation = new Authenticator().create(options);
  expect((await add(session, attestation)).error).toEqual(NOT_VALID);
  const both = await Promise.all([add(other.session, attestation), add(other.session, attestation)]);
  expect(statusesOf(both)[0]).toBe(201);
  const response = both.find(({ status }) => status === 201);
  expect(response?.headers["location"]).toBe(`${BASE_PATH}/auth/second-factors/${response?.as(secondFactors.Factor).id}`);
  expect([401, 409]).toContain(statusesOf(both)[1]);
  const again = other.passkey.create(await optionsOf(other.session));
  expect((await add(other.session, again)).error).toMatchObject({ code: "CONFLICT" });
  expect(await factorsOf(other.session)).toHaveLength(2);
});

test("a user has at most ten passkeys, also with two requests at once", async () => {
  const other = await another();
  for (let i = 0; i < 8; i++) await addPasskey(other.session);
  const attestations = [await optionsOf(other.session), await optionsOf(other.session)].map((each) =>
    new Authenticator().create(each),
  );
  expect(statusesOf(await Promise.all(attestations.map((each) => add(other.session, each))))).toEqual([201, 409]);
  const full = await other.session.post("/auth/second-factors/passkeys/options", {});
  expect(full.error).toMatchObject({ code: "QUOTA_EXCEEDED", details: { resource: "passkey", limit: 10 } });
});

test("two factors that are removed at once are both gone", async () => {
  const other = await another();
  await setUpApp(other.session);
  const all = await factorsOf(other.session);
  const removed = await Promise.all(all.map(({ id }) => other.session.delete(`/auth/second-factors/${id}`)));
  expect(statusesOf(removed)).toEqual([200, 200]);
  const currentUser = (await other.session.get("/auth/me")).as(auth.me().data).user;
  expect(currentUser?.second_factors).toEqual({ passkeys: 0, totp: false, recovery_codes_left: 0 });
});
