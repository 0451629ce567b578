// DELETE /tokens/:id
import { beforeAll, expect, test } from "vitest";
import { account, type TestAccount } from "../harness/account.ts";
import { type Client, statusesOf } from "../harness/client.ts";

let me: TestAccount;
let session: Client;
beforeAll(async () => {
  me = await account();
  session = await me.session();
});

test("a token that was just revoked is invalid, and its record is gone", async () => {
  const { id, api } = await me.token();
  expect((await api.get("/auth/me")).status).toBe(200);
  const response = await session.delete(`/tokens/${id}`);
  expect(response.body).toEqual({ success: true, data: { id, deleted: true } });
  expect((await api.get("/auth/me")).status).toBe(401);
  expect((await session.get(`/tokens/${id}`)).status).toBe(404);
  expect((await session.delete(`/tokens/${id}`)).status).toBe(404);
  expect((await session.get("/tokens?per_page=100")).text).not.toContain(id);
});

test("no request that starts after the response to a revocation succeeds", async () => {
  const { id, api } = await me.token();
  const during = Array.from({ length: 20 }, () => api.get("/auth/me"));
  await session.delete(`/tokens/${id}`);
  const after = await Promise.all(Array.from({ length: 20 }, () => api.get("/auth/me")));
  expect(after.map(({ status }) => status)).toEqual(after.map(() => 401));
  for (const { status } of await Promise.all(during)) expect([200, 401]).toContain(status);
});

test("only one of two concurrent revocations succeeds, and the other gets 404", async () => {
  const { id } = await me.token();
  const responses = await Promise.all([session.delete(`/tokens/${id}`), session.delete(`/tokens/${id}`)]);
  expect(statusesOf(responses)).toEqual([200, 404]);
});
