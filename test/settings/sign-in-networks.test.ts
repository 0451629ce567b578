// `allowed_ips` of PUT /settings: from where people sign in
import { beforeAll, describe, expect, test } from "vitest";
import * as auth from "../../shared/api/auth.ts";
import * as secondFactors from "../../shared/api/second-factors.ts";
import { Settings } from "../../shared/api/settings.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { type Client, anonymous } from "../harness/client.ts";
import { newestLink } from "../harness/links.ts";
import { addPasskey, challengeFor, newCodes, prove } from "../harness/second-factors.ts";

const ELSEWHERE = "127.0.240.9";
const NOT_ALLOWED = { code: "FORBIDDEN", message: "Sign-in is not allowed from this address" };

let me: TestAccount;
let owner: Client;
beforeAll(async () => {
  me = await account();
  owner = await me.session();
});

test("only an owner's session sets them, and only with the address that it is at", async () => {
  const admin = await me.session(await me.anotherUser({ role: "admin" }));
  for (const api of [me.api, admin])
    expect((await api.put("/settings", { allowed_ips: ["127.0.0.0/8"] })).error).toMatchObject({
      code: "FORBIDDEN",
      message: "This action needs the role owner",
    });
  const locked = await owner.put("/settings", { allowed_ips: ["192.0.2.0/24"] });
  expect(locked.error?.details).toMatchObject({
    field: "allowed_ips",
    reason: "must contain the address that you send this from, or you could not sign in again",
  });
  const set = await owner.put("/settings", { allowed_ips: ["127.0.0.7/24", "127.0.0.0/24", "2001:db8::1/64"] });
  expect(set.as(Settings).allowed_ips).toEqual(["127.0.0.0/24", "2001:db8::/64"]);
  expect((await owner.put("/settings", { allowed_ips: [] })).as(Settings).allowed_ips).toEqual([]);
});

describe("from elsewhere, nobody signs in", () => {
  beforeAll(async () => {
    await owner.put("/settings", { allowed_ips: ["127.0.0.0/24"] });
  });

  test("with a password, which is checked first", async () => {
    const { email, password } = me.user;
    expect((await anonymous.post("/auth/login", { email, password }, { from: ELSEWHERE })).error).toEqual(NOT_ALLOWED);
    expect((await anonymous.post("/auth/login", { email, password: "wrong" }, { from: ELSEWHERE })).status).toBe(401);
    expect((await anonymous.post("/auth/login", { email, password }, { from: "127.0.0.9" })).status).toBe(200);
  });

  test("with a second factor, or a passkey alone", async () => {
    const user = await me.anotherUser();
    const session = await me.session(user);
    const passkey = await addPasskey(session);
    const [code] = await newCodes(session);
    const { challenge } = await challengeFor(user);
    for (let i = 0; i < 2; i++)
      expect((await prove({ challenge, method: "recovery_code", code }, ELSEWHERE)).error).toEqual(NOT_ALLOWED);
    const { user: currentUser } = (await session.get("/auth/me")).as(auth.me().data);
    expect(currentUser?.second_factors?.recovery_codes_left, "a rejected sign-in uses up no code").toBe(10);
    expect((await prove({ challenge, method: "recovery_code", code }, "127.0.0.9")).status).toBe(200);
    const options = (await anonymous.post("/auth/login/passkey/options", {})).as(secondFactors.PasskeyOptions);
    const assertion = passkey.get(options);
    expect((await anonymous.post("/auth/login/passkey", { assertion }, { from: ELSEWHERE })).error).toEqual(NOT_ALLOWED);
  });

  test("by accepting an invitation, which stays valid", async () => {
    const email = `invited-${me.id}@example.com`;
    await owner.post("/users/invitations", { email, role: "viewer" });
    const token = await newestLink(me.id, "invitation", email);
    const body = { token, name: "Invited", password: "a long enough password" };
    expect((await anonymous.post("/auth/invitations/accept", body, { from: ELSEWHERE })).error).toEqual(NOT_ALLOWED);
    expect((await anonymous.post("/auth/invitations/accept", body)).status).toBe(200);
  });

  test("but open sessions stay", async () => {
    expect((await owner.get("/auth/me", { from: ELSEWHERE })).status).toBe(200);
  });
});
