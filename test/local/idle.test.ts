// Memory is given back when the service is idle again.
import { constants, performance, PerformanceObserver } from "node:perf_hooks";
import { expect, test } from "vitest";
import * as z from "zod";
import { collectWhenIdle } from "../../infra/local/idle.ts";

const Collection = z.object({ detail: z.object({ flags: z.number() }) });

/** Counts the collections that V8 has not begun by itself. */
function watchCollections(): () => number {
  let asked = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if ((Collection.parse(entry).detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0) asked += 1;
  }).observe({ entryTypes: ["gc"] });
  return () => asked;
}

async function compute(milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  while (performance.now() < until) await new Promise((done) => setImmediate(done));
}

test("what a busy time has left is collected when it is over", async () => {
  const asked = watchCollections();
  collectWhenIdle(200);
  await expect.poll(asked).toBeGreaterThan(0); // what the start has left
  const before = asked();
  await compute(1_000);
  const after = asked();
  expect(after - before).toBeLessThan(2); // at most one from the time before
  await expect.poll(asked).toBeGreaterThan(after);
});
