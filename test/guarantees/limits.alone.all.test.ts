// The limits at the authorizer, with a clock that the attack drives, and over HTTP.
import type { APIGatewayAuthorizerResult } from "aws-lambda";
import { expect, vi } from "vitest";
import { toGatewayResource } from "../../shared/api/index.ts";
import type { Key } from "../../shared/data/keys.ts";
import { tokenAccessRef } from "../../shared/records/tokens.ts";
import { userAccessRef } from "../../shared/records/users.ts";
import { REQUEST_LIMITS, WINDOW_SECONDS } from "../../shared/domain/limits.ts";
import { Limits } from "../../shared/runtime/request-context.ts";
import { account, type TestAccount } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";
import { lateness } from "../harness/late.ts";
import { takeSlots } from "../harness/slots.ts";
import { ATTACK_KEY, authorize } from "./authorizer.ts";
import { prove } from "./prove.ts";
import type { Random } from "./random.ts";

const WINDOW_MS = WINDOW_SECONDS * 1000;
const BURST = 50;
const BURSTS = 10;
const HTTP_BURST = 15;
/** One trial in twenty is over HTTP. */
const WAYS = ["HTTP", ...Array.from({ length: 19 }, (_, i) => `the authorizer ${i}`)];

const ROUTES = {
  all: { httpMethod: "GET", resource: toGatewayResource("/settings") },
  create_delete: { httpMethod: "DELETE", resource: toGatewayResource("/ssh-keys/:id") },
};
type Rate = keyof typeof ROUTES;

interface Passed {
  at: number;
  rate: Rate;
}

const limitsIn = ({ context }: APIGatewayAuthorizerResult): Limits => Limits.parse(JSON.parse(String(context?.["limits"])));

/** How many requests of a limit have passed within the window that ends now. */
const used = (passed: readonly Passed[], now: number, rate: Rate): Passed[] =>
  passed.filter((each) => each.at > now - WINDOW_MS && (rate === "all" || each.rate === "create_delete"));

process.env["ORIGIN_KEYS"] = ATTACK_KEY;

prove("limits", async () => {
  const me = await account();
  return {
    points: WAYS,
    trial: async ({ point, random, counts }) => {
      // A session's limits are its user's.
      const { access, api } = random.chance(0.2) ? await ofSession(me) : await ofToken(me);
      if (point === "HTTP") counts(await overHttp(access, api, random));
      else counts(await atAuthorizer(api, random));
    },
    close: () => void vi.useRealTimers(),
  };
});

async function ofSession(me: TestAccount) {
  const user = await me.anotherUser();
  return { access: userAccessRef(user.id), api: await me.session(user) };
}

async function ofToken(me: TestAccount) {
  const { id, api } = await me.token();
  return { access: tokenAccessRef(id), api };
}

async function atAuthorizer({ token }: Client, random: Random): Promise<number> {
  let now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"] });
  const passed: Passed[] = [];
  const clock = lateness();
  try {
    for (let burst = 0; burst < BURSTS; burst++) {
      // Mostly near the edges of the window, where off-by-one mistakes are.
      now += random.oneOf([
        0,
        1,
        random.below(1_000),
        random.below(20_000),
        WINDOW_MS - 1,
        WINDOW_MS,
        WINDOW_MS + 1,
        ...edgesOf(passed, now),
      ]);
      vi.setSystemTime(now);
      const rates = Array.from({ length: BURST }, (): Rate => (random.chance(0.3) ? "create_delete" : "all"));
      const before = { all: used(passed, now, "all"), create_delete: used(passed, now, "create_delete") };
      const ask = (rate: Rate) => clock.timed(() => authorize({ ...ROUTES[rate], authorization: `Bearer ${token}` }));
      const outcomes = await Promise.all(
        rates.map(async (rate) => ({ rate, response: await ask(rate).catch((error: unknown) => unlessLate(error)) })),
      );
      const results = outcomes.flatMap(({ rate, response }) =>
        response === undefined ? [] : [{ rate, limits: limitsIn(response) }],
      );
      for (const { rate, limits } of results) if (limits.refused === undefined) passed.push({ at: now, rate });
      expectExact(before, results, passed, now, clock.late());
    }
  } finally {
    vi.useRealTimers();
  }
  return BURSTS * BURST;
}

/** On a busy machine the database may not respond in time, three times in a row: whether such a request has passed is unknown. */
function unlessLate(error: unknown): undefined {
  if (!(error instanceof Error) || error.name !== "TimeoutError") throw error;
}

/** The moments at which the slots of the oldest requests become free. */
const edgesOf = (passed: readonly Passed[], now: number): number[] => {
  const [oldest] = used(passed, now, "all");
  return oldest === undefined ? [] : [oldest.at + WINDOW_MS - now, Math.max(0, oldest.at + WINDOW_MS - now - 1)];
};

function expectExact(
  before: Record<Rate, Passed[]>,
  results: readonly { rate: Rate; limits: Limits }[],
  passed: readonly Passed[],
  now: number,
  late: number,
): void {
  for (const rate of ["all", "create_delete"] as const) {
    const limit = REQUEST_LIMITS[rate];
    const after = used(passed, now, rate);
    expect(after.length, `${rate} in any ${WINDOW_SECONDS} s`).toBeLessThanOrEqual(limit);
    for (const { limits } of results) {
      if (limits.refused?.scope !== rate) continue;
      // All slots must have been taken by then: the order within the burst is unknown, so by the end of it.
      expect(after.length, `a false rejection by ${rate}`).toBeGreaterThanOrEqual(limit - late);
      const oldest = Math.min(...after.map(({ at }) => at));
      const retry_after = Math.ceil(Math.max(1, oldest + WINDOW_MS - now) / 1000);
      // A request that was late may hold an older slot.
      expect(limits.refused).toEqual({ scope: rate, limit, retry_after: late > 0 ? expect.any(Number) : retry_after });
      expect(limits.remaining).toBe(0);
    }
  }
  for (const { rate, limits } of results.filter(({ limits: { refused } }) => refused === undefined)) {
    // The headers show the limit that is closest to being reached.
    const scope = limits.limit === REQUEST_LIMITS.create_delete ? "create_delete" : "all";
    expect([...(rate === "create_delete" ? ["create_delete"] : []), "all", "create_delete"]).toContain(scope);
    expect(limits.remaining).toBeGreaterThanOrEqual(REQUEST_LIMITS[scope] - used(passed, now, scope).length - late);
    expect(limits.remaining).toBeLessThanOrEqual(REQUEST_LIMITS[scope] - before[scope].length);
    expect(limits.reset * 1000).toBeGreaterThanOrEqual(now);
    expect(limits.reset * 1000).toBeLessThanOrEqual(now + WINDOW_MS + 1000);
  }
}

/** A burst when few slots are free: exactly as many requests pass. */
async function overHttp(access: { key: Key }, api: Client, random: Random): Promise<number> {
  const isCreation = random.chance(0.5);
  const scope = isCreation ? "create_delete" : "all";
  const limit = REQUEST_LIMITS[scope];
  const free = 1 + random.below(HTTP_BURST - 1);
  await takeSlots(access, { all: limit - free, ...(isCreation && { create_delete: limit - free }) });
  const clock = lateness();
  const began = Date.now();
  const responses = await Promise.all(
    Array.from({ length: HTTP_BURST }, () =>
      clock.timed(() => (isCreation ? api.delete("/ssh-keys/none") : api.get("/auth/me"))),
    ),
  );
  // A slot of the burst itself is free again: such a machine shows nothing.
  if (Date.now() - began >= WINDOW_MS) return 0;
  const passed = responses.filter(({ status }) => status !== 429 && status < 500).length;
  expect(passed).toBeLessThanOrEqual(free);
  expect(passed, "fewer than the limit allows").toBeGreaterThanOrEqual(free - clock.late());
  for (const { status, headers, error } of responses) {
    if (status >= 500) continue; // the machine was too busy, which `clock` has seen
    expect(Number(headers["x-ratelimit-limit"])).toBe(limit);
    expect(Number(headers["x-ratelimit-remaining"])).toBeLessThan(free);
    if (status !== 429) continue;
    expect(error?.details).toEqual({ limit, scope, window_seconds: WINDOW_SECONDS });
    const wait = Number(headers["retry-after"]);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(WINDOW_SECONDS);
  }
  return HTTP_BURST;
}
