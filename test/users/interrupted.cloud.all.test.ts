// Requests about people that are cut off, or that others overtake.
import { beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import * as tokens from "../../shared/api/tokens.ts";
import { AccountUser } from "../../shared/api/users.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { AwsFault } from "../../infra/local/errors.ts";
import { account, type TestAccount, unique } from "../harness/account.ts";
import { type Client, clientWith, anonymous } from "../harness/client.ts";
import { processCloud } from "../harness/cloud.ts";
import type { TestCloud } from "../harness/facts.ts";
import { newestLink } from "../harness/links.ts";
import { newAddress } from "../harness/second-factors.ts";
import { seedSso } from "../harness/seed.ts";

let cloud: TestCloud;
let me: TestAccount;
let owner: Client;
beforeAll(async () => {
  cloud = await processCloud();
});
beforeEach(async () => {
  me = await account();
  owner = await me.session();
});

/** The first write of the functions is done, and then they reach the table no more, until the returned function is called. */
function cutOffAfterWrite(): () => void {
  let isCutOff = false;
  const stop = cloud.aws.intercept(async (call, next) => {
    if (call.service !== "dynamodb") return next(call);
    if (isCutOff) throw new AwsFault("AccessDeniedException", "Cut off, as the test asked", 400); // which nobody retries
    const reply = await next(call);
    isCutOff ||= call.action === "TransactWriteItems";
    return reply;
  });
  onTestFinished(stop);
  return stop;
}

/** Happens before the functions' first call that matches. */
function before(matches: (action: string, input: string) => boolean, happens: () => Promise<unknown>): void {
  let isOver = false;
  const stop = cloud.aws.intercept(async (call, next) => {
    if (!isOver && call.service === "dynamodb" && matches(call.action, JSON.stringify(await call.input()))) {
      isOver = true;
      await happens();
    }
    return next(call);
  });
  onTestFinished(stop);
}

/** An admin who has created a token. */
async function withToken() {
  const user = await me.anotherUser({ role: "admin" });
  const body = { name: unique("token"), permissions: ["servers:read"] };
  const { token } = (await (await me.session(user)).post("/tokens", body)).as(tokens.create().data);
  return { user, works: async () => (await clientWith(token).get("/servers")).status === 200 };
}

test("a removal with revoke_tokens that is cut off is finished by whoever repeats it, in their own account only", async () => {
  const { user, works } = await withToken();
  const path = `/users/${user.id}?revoke_tokens=true`;
  const goOn = cutOffAfterWrite();
  expect((await owner.delete(path)).status).toBeGreaterThanOrEqual(500);
  goOn();
  expect(await works()).toBe(true);
  expect((await owner.delete(`/users/${user.id}`)).status).toBe(404);
  expect((await (await (await account()).session()).delete(path)).status).toBe(404);
  expect(await works()).toBe(true);
  expect((await owner.delete(path)).status).toBe(404);
  expect(await works()).toBe(false);
});

test("whoever loses their role meanwhile revokes no token, of a user or of one who is gone", async () => {
  const { user, works } = await withToken();
  const path = `/users/${user.id}?revoke_tokens=true`;
  const removesWhileDemoted = async () => {
    const admin = await me.anotherUser({ role: "admin" });
    const session = await me.session(admin);
    before(
      (action) => action === "TransactWriteItems",
      () => updateOne(keys.user(admin.id), { set: { role: "viewer" } }, {}),
    );
    return session.delete(path);
  };
  expect((await removesWhileDemoted()).status).toBe(403);
  expect(await works()).toBe(true);
  expect((await owner.delete(`/users/${user.id}`)).status).toBe(200);
  expect((await removesWhileDemoted()).status).toBe(403);
  expect(await works()).toBe(true);
});

test("a removal of the single sign-on that is cut off is finished by whoever repeats it", async () => {
  const { links } = await seedSso(me.id);
  const { id } = await me.anotherUser();
  await updateOne(keys.user(id), { set: { sso: { links, subject: "ann" } } }, {});
  const isLinked = async () => (await owner.get(`/users/${id}`)).as(AccountUser).sso;
  const goOn = cutOffAfterWrite();
  expect((await owner.delete("/settings/sso")).status).toBeGreaterThanOrEqual(500);
  goOn();
  expect(await isLinked()).toBe(true);
  expect((await owner.delete("/settings/sso")).status).toBe(404);
  expect(await isLinked()).toBe(false);
});

test("a single sign-on that is set while a removal is repeated keeps its people", async () => {
  const { id } = await me.anotherUser();
  before(
    (action, input) => action === "Query" && input.includes(keys.users(me.id)),
    async () => {
      const { links } = await seedSso(me.id);
      await updateOne(keys.user(id), { set: { sso: { links, subject: "ann" } } }, {});
    },
  );
  expect((await owner.delete("/settings/sso")).status).toBe(404);
  expect((await owner.get(`/users/${id}`)).as(AccountUser).sso).toBe(true);
});

test("a reset of a password succeeds whatever becomes of the failures that it forgets", async () => {
  const user = await me.anotherUser();
  await anonymous.post("/auth/password-reset", { email: user.email }, { from: newAddress() });
  const body = { token: await newestLink(me.id, "password_reset", user.id), new_password: "a password of her own" };
  let isReached = false;
  const stop = cloud.aws.intercept(async (call, next) => {
    const isForgetting = call.action === "DeleteItem" && JSON.stringify(await call.input()).includes("SIGN_IN#");
    if (!isForgetting) return next(call);
    isReached = true;
    throw new AwsFault("AccessDeniedException", "As the test asked", 400);
  });
  onTestFinished(stop);
  expect((await anonymous.post("/auth/password-reset/confirm", body, { from: newAddress() })).status).toBe(200);
  expect(isReached).toBe(true);
});

test("of two who accept with one link, the later one gets the 401 of every link that was used", async () => {
  const email = `${unique("invited")}@example.com`;
  await owner.post("/users/invitations", { email, role: "viewer" });
  const token = await newestLink(me.id, "invitation", email);
  const body = { token, name: "Ada", password: "a password of her own" };
  const accept = () => anonymous.post("/auth/invitations/accept", body, { from: newAddress() });
  before(
    (action, input) => action === "GetItem" && input.includes(keys.email(email).pk),
    async () => expect((await accept()).status).toBe(200),
  );
  expect((await accept()).error?.code).toBe("UNAUTHORIZED");
});
