// Rate limits: exact for requests at once, and to the millisecond.
import { beforeAll, describe, expect, test } from "vitest";
import { authorizeToken } from "../../shared/operations/credentials/admission.ts";
import { tokenAccessRef } from "../../shared/records/tokens.ts";
import { account, type TestAccount } from "../harness/account.ts";
import { lateness } from "../harness/late.ts";
import { takeSlots } from "../harness/slots.ts";
import type { ApiResponse } from "../harness/client.ts";

let me: TestAccount;
beforeAll(async () => {
  me = await account();
});

const BURST = 15;
const atOnce = <T>(ask: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: BURST }, ask));

/**
 * Exactly as many requests of a burst pass as slots are free. On a busy machine, a response that is late may mean that its slot
 * counts twice.
 */
function expectExact(responses: readonly ApiResponse[], free: number, late: number): ApiResponse[] {
  const rejected = responses.filter(({ status }) => status === 429);
  const admittedCount = responses.length - rejected.length;
  expect(admittedCount).toBeLessThanOrEqual(free);
  expect(admittedCount).toBeGreaterThanOrEqual(free - late);
  return rejected;
}

describe("creations and deletions", () => {
  test("of 15 creations at once exactly as many succeed as there are free slots", async () => {
    const { api, id } = await me.token();
    await takeSlots(tokenAccessRef(id), { all: 13, create_delete: 13 });
    const { late, timed } = lateness();
    expectExact(await atOnce(() => timed(() => api.delete("/ssh-keys/none"))), 7, late());
  });
});

test("a slot is free again one minute after its request, to the millisecond", async () => {
  const { value } = await me.token();
  const at = Date.now();
  const ask = (afterMs: number) =>
    authorizeToken(value, { rate: "all", ipAddress: null, at: at + afterMs, waitSeconds: 0, requestId: "test" });
  for (let i = 0; i < 100; i++) expect((await ask(0)).kind).toBe("admitted");
  expect(await ask(59_999)).toMatchObject({ kind: "limited", retryAfterMs: 1 });
  const { late, timed } = lateness();
  const responses: Awaited<ReturnType<typeof ask>>[] = [];
  while (responses.length < 150) responses.push(...(await atOnce(() => timed(() => ask(60_000)))));
  const admitted = responses.filter(({ kind }) => kind === "admitted").length;
  expect(admitted).toBeLessThanOrEqual(100);
  expect(admitted).toBeGreaterThanOrEqual(100 - late());
  expect(responses.filter(({ kind }) => kind === "limited")).toHaveLength(150 - admitted);
});

test("a request that began earlier than those that took the slots waits no longer than a minute", async () => {
  const { value } = await me.token();
  const at = Date.now();
  const ask = (afterMs: number) =>
    authorizeToken(value, { rate: "create_delete", ipAddress: null, at: at + afterMs, waitSeconds: 0, requestId: "test" });
  for (let i = 0; i < 20; i++) expect((await ask(2_500)).kind).toBe("admitted");
  expect(await ask(0)).toMatchObject({ kind: "limited", retryAfterMs: 60_000 });
});

describe("all requests", () => {
  test("of 15 requests at once exactly as many succeed as there are free slots", async () => {
    const { api, id } = await me.token();
    await takeSlots(tokenAccessRef(id), { all: 93 });
    const { late, timed } = lateness();
    const rejected = expectExact(await atOnce(() => timed(() => api.get("/auth/me"))), 7, late());
    expect(rejected.length).toBeGreaterThanOrEqual(8);
    for (const { error } of rejected) expect(error?.details).toEqual({ limit: 100, window_seconds: 60, scope: "all" });
  });
});
