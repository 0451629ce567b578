// Memory is given back when the service is idle again.
import { performance } from "node:perf_hooks";
import { expect, test } from "vitest";
import { collectWhenIdle } from "../../infra/local/idle.ts";

/** What nobody refers to any more, and V8 would collect some day. */
const createGarbage = (): WeakRef<object> => new WeakRef({ body: "x".repeat(1000) });

async function compute(milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  while (performance.now() < until) await new Promise((done) => setImmediate(done));
}

test("what a busy time has left is collected when it is over, each time", async () => {
  collectWhenIdle(100);
  for (let time = 0; time < 2; time++) {
    await compute(500);
    const garbage = createGarbage();
    await expect.poll(() => garbage.deref() === undefined, { timeout: 60_000 }).toBe(true);
  }
});
