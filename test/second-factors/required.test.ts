// Who must have a second factor: settings.require_second_factor; and DELETE /users/:id/second-factors for who has lost theirs
import { beforeEach, expect, test } from "vitest";
import * as events from "../../shared/api/events.ts";
import { AccountUser } from "../../shared/api/users.ts";
import { account, type TestAccount, type TestUser } from "../harness/account.ts";
import { type Client } from "../harness/client.ts";
import { newestMail } from "../harness/links.ts";
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

test("from the next sign-in on, a session can only set one up, and then everything", async () => {
  const user = await me.anotherUser({ role: "viewer" });
  const before = await me.session(user);
  await demand("all");
  expect(await mayWork(before)).toBe(true);
  const session = await me.session(user);
  expect(await mayWork(session)).toBe(false);
  expect((await session.get("/auth/me")).status).toBe(200);
  expect((await session.post("/tokens", {})).error).toEqual(MUST); // before the role and the body
  await addPasskey(session);
  expect(await mayWork(session)).toBe(true);
  expect(await mayWork(before)).toBe(true);
});

test("`admins` are owners and admins, and whoever is not required any more is free at the next sign-in", async () => {
  const [admin, operator] = [await me.anotherUser({ role: "admin" }), await me.anotherUser({ role: "operator" })];
  await demand("admins");
  const session = await me.session(admin);
  expect([await mayWork(session), await mayWork(await me.session(operator))]).toEqual([false, true]);
  await demand("none");
  expect(await mayWork(await me.session(admin))).toBe(true);
  expect(await mayWork(session)).toBe(true);
});

test("only an owner's session sets it, and an unknown value is none", async () => {
  const admin = await me.session(await me.anotherUser({ role: "admin" }));
  expect((await admin.put("/settings", { require_second_factor: "all" })).error?.message).toBe(
    "This action needs the role owner",
  );
  expect((await me.api.put("/settings", { require_second_factor: "all" })).status).toBe(403);
  expect((await owner.put("/settings", { require_second_factor: "some" })).error?.code).toBe("VALIDATION_ERROR");
});

const factorsShown = async ({ id }: TestUser, by: Client) => {
  const accountUser = (await by.get(`/users/${id}`)).as(AccountUser);
  return accountUser.second_factors;
};

test("an owner removes another user's, which both are told by mail", async () => {
  const user = await me.anotherUser({ role: "operator" });
  const session = await me.session(user);
  await addPasskey(session, "Phone");
  await setUpApp(session);
  await newCodes(session);
  expect(await factorsShown(user, owner)).toEqual({ passkeys: 1, totp: true, recovery_codes_left: 10 });
  const viewer = await me.session(await me.anotherUser({ role: "viewer" }));
  expect(await factorsShown(user, viewer)).toBeNull();
  const admin = await me.session(await me.anotherUser({ role: "admin" }));
  expect((await admin.delete(`/users/${user.id}/second-factors`)).error?.message).toBe("This action needs the role owner");
  expect((await owner.delete(`/users/${user.id}/second-factors`)).body).toMatchObject({ data: { id: user.id, deleted: true } });
  expect((await signIn(user)).status).toBe(200);
  expect(await newestMail(me.id, "second_factor_removed", user.id)).toMatchObject({ user_name: null });
  expect(await newestMail(me.id, "second_factor_removed", me.user.id)).toMatchObject({ user_name: user.name });
  const removalEvents = (await owner.get(`/events?type=second_factor.removed&resource_id=${user.id}`)).as(events.list().data);
  expect(removalEvents.map(({ actor }) => actor.id)).toEqual([me.user.id]);
});
