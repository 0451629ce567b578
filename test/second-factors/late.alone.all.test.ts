// Proofs that come too late, by the clock: for a challenge of each purpose, and for what needs a fresh one.
import { beforeAll, expect, test } from "vitest";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { account, type TestAccount, unique } from "../harness/account.ts";
import { Authenticator } from "../harness/authenticator.ts";
import { type Client, anonymous } from "../harness/client.ts";
import { testClock } from "../harness/clock.ts";
import { ownCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import {
  addPasskey,
  challengeFor,
  challengeIn,
  newAddress,
  newCodes,
  NOT_VALID,
  prove,
  signIn as signInByPassword,
} from "../harness/second-factors.ts";

const clock = testClock();
let cloud: TestCloud;
let me: TestAccount;
beforeAll(async () => {
  cloud = await ownCloud({ clock: clock.shared });
  me = await account();
});

const createToken = (by: Client) => by.post("/tokens", { name: unique("token"), permissions: ["servers:read"] });

test("a challenge is valid for five minutes, whatever it is for", async () => {
  const user = await me.anotherUser();
  const [session, unproven] = [await me.session(user), await me.session(user)];
  const passkey = await addPasskey(session);
  const codes = await newCodes(session);
  const begin = async () => ({
    signIn: await challengeFor(user),
    alone: (await anonymous.post("/auth/login/passkey/options", {})).as(secondFactors.PasskeyOptions),
    another: (await session.post("/auth/second-factors/passkeys/options", {})).as(secondFactors.passkeyOptions().data),
    fresh: challengeIn(await createToken(unproven)),
  });
  const finish = async ({ signIn, alone, another, fresh }: Awaited<ReturnType<typeof begin>>) => [
    await prove({ challenge: signIn.challenge, method: "recovery_code", code: codes.pop() }),
    await anonymous.post("/auth/login/passkey", { assertion: passkey.get(alone) }, { from: newAddress() }),
    await session.post("/auth/second-factors/passkeys", { name: "Phone", attestation: new Authenticator().create(another) }),
    await unproven.post("/auth/reauthenticate", { challenge: fresh.challenge, method: "recovery_code", code: codes.pop() }),
  ];
  // The clock goes on by itself, too, so what takes a while on a busy machine has a minute.
  const [inTime, late] = [await begin(), await begin()];
  clock.advance(4);
  expect((await finish(inTime)).map(({ status }) => status)).toEqual([200, 200, 201, 200]);
  clock.advance(1.1);
  expect((await finish(late)).map(({ error }) => error)).toEqual([NOT_VALID, NOT_VALID, NOT_VALID, NOT_VALID]);
});

test("a session's proof is fresh for 15 minutes", async () => {
  const session = await me.session(await me.anotherUser());
  await addPasskey(session);
  clock.advance(14);
  expect((await createToken(session)).status).toBe(201);
  clock.advance(1.1);
  expect((await createToken(session)).error?.code).toBe("REAUTHENTICATION_REQUIRED");
});

test("a password alone opens no session of a user who sets up a second factor at the same time", async () => {
  const user = await me.anotherUser();
  const session = await me.session(user);
  const [reached, setUp] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const stop = cloud.aws.intercept(async (call, next) => {
    if (call.action === "TransactWriteItems" && JSON.stringify(await call.input()).includes('"auth.login"')) {
      reached.resolve();
      await setUp.promise;
    }
    return next(call);
  });
  const signingIn = signInByPassword(user);
  await reached.promise;
  await addPasskey(session);
  setUp.resolve();
  expect((await signingIn).error?.code).toBe("SECOND_FACTOR_REQUIRED");
  stop();
});
