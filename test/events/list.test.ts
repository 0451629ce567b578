// GET /events: who did what, to which resource, when, from where, by which request.
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import * as tokens from "../../shared/api/tokens.ts";
import { Event } from "../../shared/api/events.ts";
import { SshKey } from "../../shared/api/ssh-keys.ts";
import { createAccount, setQuota } from "../../shared/operations/accounts/operator.ts";
import * as auth from "../../shared/api/auth.ts";
import { account, newPublicKey, type TestAccount, unique } from "../harness/account.ts";
import { anonymous } from "../harness/client.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const events = async () => (await (await me.token()).api.get("/events?per_page=100")).as(z.array(Event));
const eventOf = async (requestId: string) => (await events()).filter((event) => event.request_id === requestId);

test("a change by a token is in the audit log with who, what, which resource and from where", async () => {
  const { id, api } = await me.token();
  const headers = { "x-request-id": "the-change" };
  const key = (await api.post("/ssh-keys", { name: "Laptop", public_key: newPublicKey() }, { headers, from: "127.0.5.1" })).as(
    SshKey,
  );
  const [event, ...others] = await eventOf("the-change");
  expect(others).toEqual([]);
  expect(event).toEqual({
    id: expect.stringMatching(/^evt_/),
    type: "ssh_key.create",
    actor: { type: "token", id, name: expect.any(String), ip_address: "127.0.5.1" },
    resource: { type: "ssh_key", id: key.id, name: "Laptop" },
    request_id: "the-change",
    operation_id: null,
    data: null,
    created_at: expect.any(String),
  });
});

describe("of the dashboard", () => {
  test("signing in and out and changing the password are in the audit log as the user's, with their role", async () => {
    const user = await me.anotherUser({ role: "viewer" });
    const { email, password } = user;
    await anonymous.post("/auth/login", { email, password }, { headers: { "x-request-id": "sign-in" }, from: "127.0.5.2" });
    const session = await me.session(user);
    await session.put(
      "/auth/password",
      { current_password: password, new_password: "a new long password" },
      { headers: { "x-request-id": "password" } },
    );
    await session.post("/auth/logout", {}, { headers: { "x-request-id": "sign-out" } });
    const actor = { type: "user", id: user.id, name: user.name, role: "viewer", signed_in_with: "password" };
    const resource = { type: "user", id: user.id, name: user.name };
    expect(await eventOf("sign-in")).toMatchObject([
      { type: "auth.login", actor: { ...actor, ip_address: "127.0.5.2" }, resource },
    ]);
    expect(await eventOf("password")).toMatchObject([{ type: "auth.password", actor, resource }]);
    expect(await eventOf("sign-out")).toMatchObject([{ type: "auth.logout", actor, resource }]);
  });

  test("creating and revoking a token are in the audit log, without the token's value", async () => {
    const session = await me.session();
    const response = await session.post(
      "/tokens",
      { name: "Pipeline", permissions: ["servers:read"] },
      { headers: { "x-request-id": "made" } },
    );
    const { id, token } = response.as(tokens.create().data);
    await session.delete(`/tokens/${id}`, { headers: { "x-request-id": "revoked" } });
    const resource = { type: "token", id, name: "Pipeline" };
    expect(await eventOf("made")).toMatchObject([{ type: "token.create", resource }]);
    expect(await eventOf("revoked")).toMatchObject([{ type: "token.delete", resource }]);
    expect(JSON.stringify(await events())).not.toContain(token);
  });

  test("changed settings are in the audit log", async () => {
    await me.api.put("/settings", { backup_retention_days: 7 }, { headers: { "x-request-id": "settings" } });
    expect(await eventOf("settings")).toMatchObject([{ type: "settings.update", resource: { type: "account", id: me.id } }]);
  });
});

test("a failed request is not in the audit log", async () => {
  const headers = { "x-request-id": "refused" };
  await me.api.post("/ssh-keys", { name: "Laptop", public_key: "none" }, { headers });
  await me.api.delete("/ssh-keys/none", { headers });
  await (await me.token(["servers:read"])).api.put("/settings", { backup_retention_days: 7 }, { headers });
  await anonymous.post("/auth/login", { email: me.user.email, password: "wrong" }, { headers, from: "127.0.5.3" });
  expect(await eventOf("refused")).toEqual([]);
});

test("the audit log is newest first, and has nothing of other accounts", async () => {
  const all = await events();
  expect(all.map((event) => event.created_at)).toEqual(
    all
      .map((event) => event.created_at)
      .toSorted()
      .toReversed(),
  );
  const user = { email: `${unique("owner")}@example.com`, name: "Owner", password: "correct horse battery" };
  const creation = await createAccount("Theirs", user);
  await setQuota(creation.account.id, "server", 3);
  const { token } = (await anonymous.post("/auth/login", { email: user.email, password: user.password })).as(auth.login().data);
  const operatorEvents = (await anonymous.get("/events?per_page=100", { token }))
    .as(z.array(Event))
    .filter(({ actor }) => actor.type === "operator");
  expect(operatorEvents.map((event) => event.type)).toEqual(["account.quota", "user.create", "account.create"]);
});
