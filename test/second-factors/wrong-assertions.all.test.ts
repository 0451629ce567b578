// What a browser and an authenticator never make: each wrong in one way, and refused with the same error.
import { beforeAll, describe, expect, test } from "vitest";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { Authenticator, dashboardOrigin, type Deviation } from "../harness/authenticator.ts";
import { anonymous } from "../harness/client.ts";
import { addPasskey, challengeFor, newAddress, NOT_VALID, optionsIn, prove } from "../harness/second-factors.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const WRONG: readonly (readonly [what: string, deviation: () => Deviation])[] = [
  ["another origin", () => ({ origin: "https://evil.example" })],
  ["another port", () => ({ origin: "http://localhost:1" })],
  ["another scheme", () => ({ origin: dashboardOrigin().replace("http:", "https:") })],
  ["an IP address in the place of the name", () => ({ origin: dashboardOrigin().replace("localhost", "127.0.0.1") })],
  ["an origin that begins with ours", () => ({ origin: `${dashboardOrigin()}.evil.example` })],
  ["a frame in another site", () => ({ crossOrigin: true })],
  ["the hash of another relying party", () => ({ rpId: "evil.example" })],
  ["the hash of a domain above ours", () => ({ rpId: "" })],
  ["nobody present", () => ({ present: false })],
  ["another challenge", () => ({ challenge: Buffer.from("another challenge").toString("base64url") })],
  ["no challenge", () => ({ challenge: "" })],
];

describe.each([
  ...WRONG,
  ["the other type", () => ({ type: "webauthn.create" })] as const,
  ["a changed signature", () => ({ brokenSignature: true })] as const,
])("an assertion with %s", (_, deviation) => {
  test("is no second factor", async () => {
    const user = await me.anotherUser();
    const passkey = await addPasskey(await me.session(user));
    const challenge = await challengeFor(user);
    const wrong = passkey.get(optionsIn(challenge), deviation());
    const refused = await prove({ challenge: challenge.challenge, method: "passkey", assertion: wrong });
    expect(refused.error).toEqual(NOT_VALID);
    // It was only that: the same without it is accepted.
    const right = passkey.get(optionsIn(challenge));
    expect((await prove({ challenge: challenge.challenge, method: "passkey", assertion: right })).status).toBe(200);
  });

  test("signs nobody in", async () => {
    const passkey = await addPasskey(await me.session(await me.anotherUser()));
    const options = (await anonymous.post("/auth/login/passkey/options", {})).as(secondFactors.PasskeyOptions);
    const send = (assertion: secondFactors.Assertion) =>
      anonymous.post("/auth/login/passkey", { assertion }, { from: newAddress() });
    expect((await send(passkey.get(options, deviation()))).error).toEqual(NOT_VALID);
    expect((await send(passkey.get(options))).status).toBe(200);
  });
});

test.each([...WRONG, ["the other type", () => ({ type: "webauthn.get" })] as const])(
  "a passkey with %s is not added",
  async (_, deviation) => {
    const session = await me.session(await me.anotherUser());
    const options = (await session.post("/auth/second-factors/passkeys/options", {})).as(secondFactors.passkeyOptions().data);
    const add = (attestation: secondFactors.Attestation) =>
      session.post("/auth/second-factors/passkeys", { name: "Key", attestation });
    expect((await add(new Authenticator().create(options, deviation()))).error).toEqual(NOT_VALID);
    expect((await add(new Authenticator().create(options))).status).toBe(201);
  },
);

test("bytes that are no CBOR, or of nothing, are refused as well", async () => {
  const user = await me.anotherUser();
  const session = await me.session(user);
  const passkey = await addPasskey(session);
  const challenge = await challengeFor(user);
  const right = passkey.get(optionsIn(challenge));
  for (const response of [
    { authenticatorData: "AAAA" },
    { signature: "AAAA" },
    { clientDataJSON: "AAAA" },
    { userHandle: "AAAA" },
  ]) {
    const assertion = { ...right, response: { ...right.response, ...response } };
    const refused = await prove({ ...(await challengeOnly(user)), method: "passkey", assertion });
    expect(refused.error, JSON.stringify(response)).toEqual(NOT_VALID);
  }
  const options = (await session.post("/auth/second-factors/passkeys/options", {})).as(secondFactors.passkeyOptions().data);
  const attestation = new Authenticator().create(options);
  const broken = { ...attestation, response: { ...attestation.response, attestationObject: "AAAA" } };
  expect((await session.post("/auth/second-factors/passkeys", { name: "Key", attestation: broken })).error).toEqual(NOT_VALID);
});

const challengeOnly = async (user: { email: string; password: string }) => ({ challenge: (await challengeFor(user)).challenge });
