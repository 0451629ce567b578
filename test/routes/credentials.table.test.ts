// Authentication: on every route that is not public, every client without a valid credential gets exactly the same error.
import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { getAccount } from "../../shared/records/accounts.ts";
import { startChange } from "../../shared/data/change.ts";
import { getToken, revokeToken } from "../../shared/records/tokens.ts";
import { openSession, userRef } from "../../shared/records/users.ts";
import { find } from "../../shared/data/table.ts";
import { idFrom } from "../../shared/domain/ids.ts";
import { SESSION_HOURS } from "../../shared/domain/limits.ts";
import { newTokenValue } from "../../shared/domain/token-value.ts";
import { signSession } from "../../shared/runtime/jwt.ts";
import { account, type TestAccount, unusedId } from "../harness/account.ts";
import { anonymous } from "../harness/client.ts";
import { bodyOf, closedRoutes, openRoutes, pathOf } from "../harness/requests.ts";
import { some } from "../harness/some.ts";

const UNAUTHORIZED = {
  success: false,
  error: { code: "UNAUTHORIZED", message: "Invalid or missing authentication token" },
};

let me: TestAccount;
/** Values of an `Authorization` header that the service must reject. */
const rejected: Record<string, string | undefined> = {};

beforeAll(async () => {
  me = await account();
  const good = await me.token();
  const last = good.value.slice(-1);
  const revoked = await me.token();
  const change = startChange(await getAccount(me.id));
  revokeToken(change, await getToken(me.id, revoked.id));
  await change.commit();
  const { value: expired } = await me.token(undefined, "2026-01-01T00:00:00.000Z");
  const jwt = (await me.session()).token ?? "";
  const [head = "", claims = "", signature = ""] = jwt.split(".");
  Object.assign(rejected, {
    "no credential": undefined,
    "an empty header": "",
    "a scheme without a credential": "Bearer",
    "another scheme": `Basic ${Buffer.from("a:b").toString("base64")}`,
    "a valid token under another scheme": `Token ${good.value}`,
    "a token without a scheme": good.value,
    "two credentials in one header": `Bearer ${good.value} ${good.value}`,
    "something that is no token": "Bearer not-a-token",
    "a token with another prefix": `Bearer svc_prod_${good.value.slice(9)}`,
    "a token cut short": `Bearer ${good.value.slice(0, -1)}`,
    "a token with a wrong checksum": `Bearer ${good.value.slice(0, -1)}${last === "0" ? "1" : "0"}`,
    "a token of the other environment": `Bearer ${newTokenValue("live")}`,
    "the value under the other environment's prefix": `Bearer ${good.value.replace("svc_test_", "svc_live_")}`,
    "a well-formed token that was never given out": `Bearer ${newTokenValue("test")}`,
    "a token revoked a moment ago": `Bearer ${revoked.value}`,
    "an expired token": `Bearer ${expired}`,
    "a session with another's signature": `Bearer ${head}.${claims}.${signature.split("").toReversed().join("")}`,
    "a session without a signature": `Bearer ${head}.${claims}.`,
    "a session that was never opened": `Bearer ${await signSession(sessionOf(unusedId("session")), inAnHour())}`,
    "a session that has expired": `Bearer ${await expiredSession()}`,
  });
});

const inAnHour = () => new Date(Date.now() + 3_600_000);

/** A valid JWT of an expired session. */
async function expiredSession(): Promise<string> {
  const user = await find(userRef(me.user.id));
  if (user === undefined) throw new Error("The account has its user");
  const id = idFrom("session", Date.now() - SESSION_HOURS * 3_600_000 - 1000, randomBytes(10));
  await openSession(user, id);
  return signSession(sessionOf(id), inAnHour());
}

const sessionOf = (sessionId: string) => ({ userId: me.user.id, accountId: me.id, sessionId });

describe.each(closedRoutes.map((route, place) => ({ ...route, place })))("$title", (route) => {
  const ask = (authorization: string | undefined, requestId: string) =>
    anonymous.send(route.method, pathOf(route), bodyOf(route), {
      headers: { "x-request-id": requestId, ...(authorization !== undefined && { authorization }) },
    });

  test("a request without a valid credential always gets the same 401", async () => {
    for (const [what, authorization] of some(Object.entries(rejected), 5, route.place)) {
      const id = `refused:${route.id}`;
      const response = await ask(authorization, id);
      expect(response.status, what).toBe(401);
      expect(response.body, what).toEqual(UNAUTHORIZED);
      expect(response.headers["x-request-id"], what).toBe(id);
      expect(response.headers, what).not.toHaveProperty("x-ratelimit-limit");
    }
  });
});

/** The body proves who somebody is, which that of an example does not. */
const PROVES = [
  "/auth/login",
  "/auth/login/second-factor",
  "/auth/login/passkey",
  "/auth/invitations/accept",
  "/auth/password-reset/confirm",
  "/auth/sso/finish",
];
/** No account has single sign-on for the example's email. */
const FINDS_NOTHING = ["/auth/sso/start"];

test.each(openRoutes)("$title is public, even with an invalid credential", async (route) => {
  for (const authorization of [undefined, "Bearer not-a-token"]) {
    const response = await anonymous.send(route.method, pathOf(route), bodyOf(route), {
      headers: authorization === undefined ? {} : { authorization },
      from: "127.0.1.1",
    });
    expect(response.error?.message).not.toBe(UNAUTHORIZED.error.message);
    expect(response.status).toBe(PROVES.includes(route.path) ? 401 : FINDS_NOTHING.includes(route.path) ? 404 : route.status);
  }
});

test("the authorization scheme is case-insensitive", async () => {
  const response = await anonymous.get("/auth/me", { headers: { authorization: `bearer ${me.api.token}` } });
  expect(response.status).toBe(200);
});
