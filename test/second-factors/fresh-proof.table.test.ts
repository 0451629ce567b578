// POST /auth/reauthenticate, and what needs the proof that it gives: tables that the routes' declarations fill
import { beforeAll, expect, test } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import { keys } from "../../shared/data/keys.ts";
import { updateOne } from "../../shared/data/table.ts";
import { account, type TestAccount, type TestUser, unique, unusedId } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { bodyOf, everyRoute, pathOf } from "../harness/requests.ts";
import { addPasskey, challengeIn, newCodes, optionsIn, prove, challengeFor, sessionIn } from "../harness/second-factors.ts";
import { some } from "../harness/some.ts";

let me: TestAccount;
let user: TestUser;
/** A session with a proof that is 15 minutes old. */
let stale: Client;

const sessionId = async (client: Client): Promise<string> => {
  const sessions = (await client.get("/auth/sessions")).as(auth.listSessions().data);
  return sessions.find(({ current }) => current)?.id ?? expect.fail("There is a current session");
};

const age = async (client: Client, minutes: number): Promise<void> => {
  const set = { second_factor_at: new Date(Date.now() - minutes * 60_000).toISOString() };
  await updateOne(keys.session(user.id, await sessionId(client)), { set }, {});
};

beforeAll(async () => {
  me = await account();
  user = await me.anotherUser();
  stale = await me.session(user);
  await addPasskey(stale);
  await newCodes(stale);
  await age(stale, 15);
});

/** Written out a second time, as docs/people.md names them. */
const NEEDS_PROOF = [
  "POST /tokens",
  "POST /tokens/:id/rotate",
  "PUT /users/:id",
  "DELETE /users/:id",
  "DELETE /users/:id/second-factors",
  "POST /users/invitations",
  "DELETE /users/invitations/:id",
  "POST /users/invitations/:id/resend",
  "PUT /settings/sso",
  "DELETE /settings/sso",
  "POST /settings/sso/domains/:name/verify",
  "PUT /auth/password",
  "POST /auth/second-factors/totp",
  "POST /auth/second-factors/totp/confirm",
  "POST /auth/second-factors/passkeys",
  "POST /auth/second-factors/passkeys/options",
  "POST /auth/second-factors/recovery-codes",
  "DELETE /auth/second-factors/:id",
  "POST /webhooks",
  "PUT /webhooks/:id",
  "POST /webhooks/:id/rotate-secret",
  "DELETE /servers/:id",
  "DELETE /instances/:id",
  "DELETE /backups/:id",
  "POST /bulk",
];

const proving = everyRoute.filter(({ proof }) => proof !== undefined);

test("the routes that need a fresh proof are those that are promised", () => {
  expect(proving.map(({ title }) => title).toSorted()).toEqual(NEEDS_PROOF.toSorted());
});

const send = (client: Client, route: (typeof proving)[number]) => {
  // What the body decides is deleted, too.
  const body = route.id === "bulk.run" ? { action: "delete", select: { ids: [unusedId("instance")] } } : bodyOf(route);
  return client.send(route.method, pathOf(route), body);
};

test.each(some(proving, 1))("$title needs a proof of the last 15 minutes, before it looks for anything", async (route) => {
  const refused = await send(stale, route);
  expect([refused.status, refused.error?.code]).toEqual([403, "REAUTHENTICATION_REQUIRED"]);
  expect(challengeIn(refused).methods).toEqual(["passkey", "recovery_code"]);
});

test.each(some(proving, 4))("$title needs none of a user without a second factor", async (route) => {
  const response = await send(await me.session(await me.anotherUser()), route);
  expect(response.error?.code).not.toBe("REAUTHENTICATION_REQUIRED");
});

test("what changes neither people, URLs nor anything for good needs none, nor does a dry run", async () => {
  const answers = await Promise.all([
    stale.put(`/users/${user.id}`, { name: "New name" }),
    stale.put(`/webhooks/${unusedId("webhook")}`, { name: "other" }),
    stale.post("/bulk", { action: "stop", select: { ids: [unusedId("instance")] } }),
    stale.delete(`/instances/${unusedId("instance")}?dry_run=true`),
    stale.delete(`/ssh-keys/${unusedId("ssh_key")}`),
  ]);
  expect(answers.map(({ error }) => error?.code)).not.toContain("REAUTHENTICATION_REQUIRED");
  expect((await stale.put(`/users/${user.id}`, { role: "admin" })).error?.code).toBe("REAUTHENTICATION_REQUIRED");
});

test("an API token needs none", async () => {
  const { api } = await me.token();
  expect((await api.delete(`/servers/${unusedId("server")}`)).status).toBe(404);
});

const create = (client: Client) => client.post("/tokens", { name: unique("token"), permissions: ["servers:read"] });
const reauthenticate = (client: Client, proof: Record<string, unknown>) => client.post("/auth/reauthenticate", proof);

test("a proof counts for its session, and a sign-in with a second factor is one", async () => {
  const other = await me.anotherUser();
  const [one, two] = [await me.session(other), await me.session(other)];
  const passkey = await addPasskey(one);
  expect((await create(one)).status).toBe(201); // whoever adds a passkey has it
  const challenge = challengeIn(await create(two));
  const assertion = passkey.get(optionsIn(challenge));
  const proven = await reauthenticate(two, { challenge: challenge.challenge, method: "passkey", assertion });
  const { second_factor_at } = proven.as(auth.reauthenticate().data);
  expect(Math.abs(Date.now() - Date.parse(second_factor_at))).toBeLessThan(60_000);
  expect((await create(two)).status).toBe(201);
  const signedIn = await challengeFor(other);
  const response = await prove({
    challenge: signedIn.challenge,
    method: "passkey",
    assertion: passkey.get(optionsIn(signedIn)),
  });
  expect((await create(sessionIn(response))).status).toBe(201);
});
