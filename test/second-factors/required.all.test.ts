// Second factors that are removed while they are required.
import { beforeEach, expect, test } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { deleteSecondFactors } from "../../shared/operations/accounts/operator.ts";
import { findUserByEmail } from "../../shared/records/users.ts";
import { signIn as begin, signInProven } from "../../shared/runtime/sign-in.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { type Client, clientWith } from "../harness/client.ts";
import { addPasskey, newCodes, setUpApp, signIn } from "../harness/second-factors.ts";

let me: TestAccount;
let owner: Client;
beforeEach(async () => {
  me = await account();
  owner = await me.session();
});

const demand = async (of: string) => expect((await owner.put("/settings", { require_second_factor: of })).status).toBe(200);
const MUST = { code: "SECOND_FACTOR_SETUP_REQUIRED", message: "Your account requires a second factor; set one up first" };
const mayWork = async (session: Client): Promise<boolean> => {
  const response = await session.get("/overview");
  if (response.status === 403) expect(response.error).toEqual(MUST);
  return response.status === 200;
};

test("who removes the last one must set up another", async () => {
  await demand("all");
  const session = await me.session(await me.anotherUser());
  await setUpApp(session);
  await newCodes(session);
  const [factor] = (await session.get("/auth/second-factors")).as(secondFactors.list().data);
  expect((await session.delete(`/auth/second-factors/${factor?.id}`)).status).toBe(200);
  expect(await mayWork(session)).toBe(false);
  const { user } = (await session.get("/auth/me")).as(auth.me().data);
  expect(user?.second_factors).toEqual({ passkeys: 0, totp: false, recovery_codes_left: 0 });
});

test("nor goes free who signs in with a factor that is removed at the same moment", async () => {
  await demand("all");
  const user = await me.anotherUser();
  const session = await me.session(user);
  await setUpApp(session);
  await newCodes(session);
  const proven = (await findUserByEmail(user.email)) ?? expect.fail("They are a user");
  await deleteSecondFactors(user.email);
  const from = { ipAddress: "127.0.0.1", userAgent: null, acceptLanguage: undefined, requestId: "req-test" };
  await expect(begin(proven, from, "recovery_code")).rejects.toMatchObject({ name: "Overtaken" });
  const { token } = await signInProven(proven, from, "recovery_code");
  expect([await mayWork(clientWith(token)), await mayWork(session)]).toEqual([false, false]);
});

test("an owner's own are not removed at once, and the last owner's by the operator", async () => {
  await addPasskey(owner);
  expect((await owner.delete(`/users/${me.user.id}/second-factors`)).error?.code).toBe("CONFLICT");
  expect((await signIn(me.user)).status).toBe(401);
  expect(await deleteSecondFactors(me.user.email)).toBe(1);
  expect((await signIn(me.user)).status).toBe(200);
});
