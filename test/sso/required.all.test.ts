// What `required` closes besides passwords, and for whom it does not.
import { beforeAll, describe, expect, test } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { account, type TestAccount, uniqueDomain } from "../harness/account.ts";
import { type Client, anonymous } from "../harness/client.ts";
import { newestLink } from "../harness/links.ts";
import { addPasskey, challengeFor, newAddress, newCodes, prove, setUpApp } from "../harness/second-factors.ts";
import { seedSso } from "../harness/seed.ts";
import { LOGIN_FAILURES } from "../../shared/domain/limits.ts";
import { createUser } from "../../shared/operations/accounts/operator.ts";

let me: TestAccount;
let owner: Client;
beforeAll(async () => {
  me = await account();
  owner = await me.session();
});

describe("where single sign-on is required", () => {
  const REQUIRED = { code: "FORBIDDEN", message: "Sign in with single sign-on" };
  const name = uniqueDomain();
  const password = "a long enough password";
  beforeAll(async () => {
    await seedSso(me.id, { domains: [{ name, proof: "p", verified: true }], required: true });
    await createUser(me.id, { email: `owner@${name}`, name: "Owner", password });
    await createUser(me.id, { email: `viewer@${name}`, name: "Viewer", password, role: "viewer" });
  });

  test("in the sandbox, where nobody has to prove a domain, users of other accounts sign in as before", async () => {
    const other = await account();
    const email = `elsewhere@${name}`;
    const { id } = await createUser(other.id, { email, name: "Elsewhere", password });
    expect((await anonymous.post("/auth/login", { email, password }, { from: newAddress() })).status).toBe(200);
    expect((await anonymous.post("/auth/password-reset", { email }, { from: newAddress() })).status).toBe(200);
    const set = { token: await newestLink(other.id, "password_reset", id), new_password: "another long password" };
    expect((await anonymous.post("/auth/password-reset/confirm", set, { from: newAddress() })).status).toBe(200);
  });

  test("whoever tries a password there is not locked out: it was no guess", async () => {
    const from = newAddress();
    const body = { email: `owner@${name}`, password: "wrong" };
    for (let i = 0; i <= LOGIN_FAILURES.pair; i++)
      expect((await anonymous.post("/auth/login", body, { from })).error).toEqual(REQUIRED);
  });

  test("what was begun before is closed, too: links, and second steps of a sign-in", async () => {
    const sso = await seedSso(me.id, { domains: [{ name, proof: "p", verified: true }] });
    const user = { email: `careful@${name}`, password };
    const { id } = await createUser(me.id, { ...user, name: "Careful" });
    const session = await me.session(user);
    await setUpApp(session);
    const codes = await newCodes(session);
    const { challenge } = await challengeFor(user);
    const { email } = user;
    await anonymous.post("/auth/password-reset", { email }, { from: newAddress() });
    const token = await newestLink(me.id, "password_reset", id);
    await seedSso(me.id, { ...sso, required: true });
    const set = { token, new_password: "another long password" };
    expect((await anonymous.post("/auth/password-reset/confirm", set, { from: newAddress() })).error).toEqual(REQUIRED);
    expect((await prove({ challenge, method: "recovery_code", code: codes[0] })).error).toEqual(REQUIRED);
  });

  test("an invitation is not accepted with a password", async () => {
    const email = `invited@${name}`;
    await owner.post("/users/invitations", { email, role: "viewer" });
    const token = await newestLink(me.id, "invitation", email);
    const response = await anonymous.post("/auth/invitations/accept", { token, name: "Invited", password: "another long one" });
    expect(response.error).toEqual(REQUIRED);
  });

  test("an owner may use a passkey, and nobody else", async () => {
    const sso = await seedSso(me.id, { domains: [{ name, proof: "p", verified: true }] });
    const passkeys = await Promise.all(
      ["owner", "viewer"].map(async (who) => addPasskey(await me.session({ email: `${who}@${name}`, password }))),
    );
    await seedSso(me.id, { ...sso, required: true });
    const responses = await Promise.all(
      passkeys.map(async (passkey) => {
        const options = (await anonymous.post("/auth/login/passkey/options", {})).as(secondFactors.PasskeyOptions);
        return anonymous.post("/auth/login/passkey", { assertion: passkey.get(options) }, { from: newAddress() });
      }),
    );
    expect(responses[0]?.as(auth.passkeyLogin().data).user.email).toBe(`owner@${name}`);
    expect(responses[1]?.error).toEqual(REQUIRED);
  });
});
