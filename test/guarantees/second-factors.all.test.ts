// Proofs of second factors that are changed, swapped, replayed or late, by somebody who knows the password.
import { expect } from "vitest";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { account, type TestUser } from "../harness/account.ts";
import type { Authenticator } from "../harness/authenticator.ts";
import { type ApiResponse, type Client, anonymous } from "../harness/client.ts";
import {
  addPasskey,
  challengeFor,
  newAddress,
  newCodes,
  NOT_VALID,
  optionsIn,
  prove as sendProof,
  setUpApp,
  type UsedApp,
} from "../harness/second-factors.ts";
import { prove } from "./prove.ts";
import { changed, type Random } from "./random.ts";

interface Victim {
  user: TestUser;
  session: Client;
  passkey: Authenticator;
  app: UsedApp;
  codes: string[];
}

/** Beyond ten wrong proofs of a user, nothing but the limit would be attacked. */
const WRONG_EACH = 8;

prove("second-factors", async () => {
  const me = await account();

  const newVictim = async (): Promise<Victim> => {
    const user = await me.anotherUser();
    const session = await me.session(user);
    const passkey = await addPasskey(session);
    const app = await setUpApp(session);
    return { user, session, passkey, app, codes: await newCodes(session) };
  };
  let other = await newVictim();

  const codeOf = ({ codes }: Victim): string => codes.pop() ?? expect.fail("There are ten codes");
  const beginAlone = async () => (await anonymous.post("/auth/login/passkey/options", {})).as(secondFactors.PasskeyOptions);
  const alone = (assertion: unknown): Promise<ApiResponse> =>
    anonymous.post("/auth/login/passkey", { assertion }, { from: newAddress() });
  const withCode = (challenge: string, code: string, method = "recovery_code") => sendProof({ challenge, method, code });
  const withPasskey = (challenge: string, assertion: unknown) => sendProof({ challenge, method: "passkey", assertion });
  const kinds: Record<string, (victim: Victim, random: Random) => Promise<ApiResponse>> = {
    "a changed challenge": async (victim, random) =>
      withCode(changed((await challengeFor(victim.user)).challenge, random), codeOf(victim)),
    "the challenge of another user": async (victim) => withCode((await challengeFor(other.user)).challenge, codeOf(victim)),
    "a challenge to sign in with a passkey alone": async (victim) => withCode((await beginAlone()).challenge, codeOf(victim)),
    "a challenge to add a passkey": async (victim) => {
      const options = await victim.session.post("/auth/second-factors/passkeys/options", {});
      return withCode(options.as(secondFactors.passkeyOptions().data).challenge, codeOf(victim));
    },
    "a challenge to sign in, to prove it in a session": async (victim) => {
      const { challenge } = await challengeFor(victim.user);
      const proof = { challenge, method: "recovery_code", code: codeOf(victim) };
      return victim.session.post("/auth/reauthenticate", proof, { from: newAddress() });
    },
    "a met challenge": async (victim) => {
      const { challenge } = await challengeFor(victim.user);
      expect((await withCode(challenge, codeOf(victim))).status).toBe(200);
      return withCode(challenge, codeOf(victim));
    },
    "a challenge from before a new password": async (victim) => {
      const { challenge } = await challengeFor(victim.user);
      const new_password = `${victim.user.password}?`;
      const set = await victim.session.put("/auth/password", { current_password: victim.user.password, new_password });
      expect(set.status).toBe(200);
      victim.user.password = new_password;
      return withCode(challenge, codeOf(victim));
    },
    "a changed assertion": async (victim, random) => {
      const challenge = await challengeFor(victim.user);
      const assertion = victim.passkey.get(optionsIn(challenge));
      const part = random.oneOf(["clientDataJSON", "authenticatorData", "signature", "userHandle"] as const);
      const response = { ...assertion.response, [part]: changed(String(assertion.response[part]), random) };
      return withPasskey(challenge.challenge, { ...assertion, response });
    },
    "a changed ID of a passkey": async (victim, random) => {
      const challenge = await challengeFor(victim.user);
      const assertion = victim.passkey.get(optionsIn(challenge));
      const id = changed(assertion.id, random);
      return withPasskey(challenge.challenge, { ...assertion, id, rawId: random.chance(0.5) ? id : assertion.rawId });
    },
    "an assertion for another challenge": async (victim) => {
      const [one, two] = [await challengeFor(victim.user), await challengeFor(victim.user)];
      return withPasskey(one.challenge, victim.passkey.get(optionsIn(two)));
    },
    "an assertion of another user": async (victim) => {
      const challenge = await challengeFor(victim.user);
      return withPasskey(challenge.challenge, other.passkey.get(optionsIn(challenge)));
    },
    "a used assertion": async (victim) => {
      const challenge = await challengeFor(victim.user);
      const assertion = victim.passkey.get(optionsIn(challenge));
      expect((await withPasskey(challenge.challenge, assertion)).status).toBe(200);
      return withPasskey((await challengeFor(victim.user)).challenge, assertion);
    },
    "a changed assertion alone": async (victim, random) => {
      const assertion = victim.passkey.get(await beginAlone());
      const part = random.oneOf(["clientDataJSON", "authenticatorData", "signature", "userHandle"] as const);
      const response = { ...assertion.response, [part]: changed(String(assertion.response[part]), random) };
      return alone({ ...assertion, response });
    },
    "an assertion alone in another's name": async (victim) => {
      const { userHandle } = victim.passkey.get(await beginAlone()).response;
      return alone(other.passkey.get(await beginAlone(), { userHandle: String(userHandle) }));
    },
    "a used assertion alone": async (victim) => {
      const assertion = victim.passkey.get(await beginAlone());
      expect((await alone(assertion)).status).toBe(200);
      return alone(assertion);
    },
    "a changed recovery code": async (victim, random) =>
      withCode((await challengeFor(victim.user)).challenge, changed(codeOf(victim), random, "23456789abcdefghjkmnpqrstvwxyz")),
    "another user's recovery code": async (victim) =>
      withCode((await challengeFor(victim.user)).challenge, (await newCodes(other.session))[0] ?? ""),
    "a used recovery code": async (victim) => {
      const code = codeOf(victim);
      expect((await withCode((await challengeFor(victim.user)).challenge, code)).status).toBe(200);
      return withCode((await challengeFor(victim.user)).challenge, code);
    },
    "a replaced recovery code": async (victim) => {
      const code = codeOf(victim);
      victim.codes = await newCodes(victim.session);
      return withCode((await challengeFor(victim.user)).challenge, code);
    },
    "the code that set the app up": async (victim) =>
      withCode((await challengeFor(victim.user)).challenge, victim.app.used, "totp"),
    "another app's code": async (victim) => withCode((await challengeFor(victim.user)).challenge, other.app.code(1), "totp"),
    "a changed code of an app": async (victim, random) =>
      withCode((await challengeFor(victim.user)).challenge, changed(victim.app.code(1), random, "0123456789"), "totp"),
  };

  let victim = await newVictim();
  let wrong = 0;
  return {
    points: Object.keys(kinds),
    trial: async ({ point, random }) => {
      if (wrong >= WRONG_EACH || victim.codes.length < 3) {
        const challenge = await challengeFor(victim.user);
        const right = await withPasskey(challenge.challenge, victim.passkey.get(optionsIn(challenge)));
        expect(right.status, "the right proof").toBe(200);
        [victim, other, wrong] = [await newVictim(), await newVictim(), 0];
      }
      wrong++;
      const attack = kinds[point] ?? expect.fail(`There is no point ${point}`);
      expect((await attack(victim, random)).error, point).toEqual(NOT_VALID);
    },
  };
});
