// What the local gateway takes from one address without a valid credential.
import { beforeAll, expect, test } from "vitest";
import { limitUnauthenticated } from "../../infra/local/gateway/unauthenticated-limit.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { clientWith, anonymous } from "../harness/client.ts";
import { ownCloud } from "../harness/cloud.ts";

const MAX = 20;
let me: TestAccount;
beforeAll(async () => {
  await ownCloud({ unauthenticatedMax: MAX });
  me = await account();
});

test("beyond the bound an address without a valid credential gets 429 in the envelope; credentials and other addresses do not", async () => {
  const from = "127.0.0.2";
  const invalid = clientWith("svc_test_" + "a".repeat(36));
  for (let i = 0; i < MAX / 2; i++) {
    expect((await anonymous.get("/health", { from })).status).toBe(200);
    expect((await invalid.get("/servers", { from })).status).toBe(401);
    expect((await me.api.get("/servers", { from })).status).toBe(200);
  }
  for (const response of [
    await anonymous.get("/health", { from }),
    await anonymous.get("/servers", { from }),
    await invalid.get("/servers", { from }),
    // Where nobody checks it, a credential is no way around the bound.
    await invalid.get("/health", { from }),
    await invalid.get("/no/such/path", { from }),
    await invalid.post("/auth/login", { email: me.user.email, password: me.user.password }, { from }),
    await anonymous.post("/auth/login", { email: me.user.email, password: me.user.password }, { from }),
  ]) {
    expect(response.status).toBe(429);
    expect(response.error).toMatchObject({
      code: "RATE_LIMIT_EXCEEDED",
      details: { limit: MAX, window_seconds: 300, scope: "address" },
    });
    expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
  }
  expect((await me.api.get("/servers", { from })).status).toBe(200);
  expect((await anonymous.get("/health", { from: "127.0.0.3" })).status).toBe(200);
});

test("the bound is for a window of five minutes, and for a network however its addresses are written", () => {
  let at = 0;
  const strangers = limitUnauthenticated(2, () => at);
  strangers.count("192.0.2.1");
  strangers.count("::ffff:192.0.2.1");
  expect(strangers.rejection({ sourceIp: "::ffff:c000:201", requestId: "r" })?.headers).toContainEqual(["retry-after", "300"]);
  expect(strangers.rejection({ sourceIp: "192.0.2.2", requestId: "r" })).toBeUndefined();
  strangers.count("2001:db8::1");
  strangers.count("2001:db8::2");
  expect(strangers.rejection({ sourceIp: "2001:db8::3", requestId: "r" })?.status).toBe(429);
  at = 300_000;
  expect(strangers.rejection({ sourceIp: "192.0.2.1", requestId: "r" })).toBeUndefined();
});
