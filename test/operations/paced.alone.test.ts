// The sweep respects AWS's rate limit and its own time limit, in an order in which everything has its turn.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { removeOpenMarker, recordCheck, openOperations } from "../../shared/records/operations.ts";
import { keys } from "../../shared/data/keys.ts";
import { putIfAbsent } from "../../shared/data/table.ts";
import { newId } from "../../shared/domain/ids.ts";
import { runPaced } from "../../shared/runtime/paced.ts";
import { apiUrl } from "../harness/cloud.ts";

describe("many operations of one kind", () => {
  const PACE = { burst: 50, perSecond: 4, seconds: 240, atOnce: 10 };
  const starts: { item: number; at: number }[] = [];
  beforeEach(() => {
    starts.length = 0;
    vi.useFakeTimers();
  });
  afterEach(() => void vi.useRealTimers());

  const run = async (count: number, work: (item: number) => Promise<void> = () => Promise.resolve()) => {
    const items = Array.from({ length: count }, (_, item) => item);
    const from = Date.now();
    const ended = Promise.allSettled([
      runPaced(
        items,
        PACE,
        (item) => {
          starts.push({ item, at: Date.now() - from });
          return work(item);
        },
        (item) => ({ operation: String(item) }),
      ),
    ]);
    await vi.runAllTimersAsync();
    const [outcome] = await ended;
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  };

  test("a few operations start at once", async () => {
    expect(await run(50)).toBe(0);
    expect(starts.filter(({ at }) => at === 0)).toHaveLength(50);
  });

  test("many operations start at the allowed pace, and in time, however many there are", async () => {
    expect(await run(10_000)).toBe(10_000 - (50 + 4 * 240));
    expect(starts.map(({ item }) => item)).toEqual(Array.from({ length: 50 + 4 * 240 }, (_, item) => item));
    expect(starts.at(-1)?.at).toBeLessThanOrEqual(240_000);
    const later = starts.slice(50);
    for (const [index, { at }] of later.entries()) expect((later[index + 4]?.at ?? Infinity) - at).toBeGreaterThanOrEqual(1000);
  });

  test("the sweep leaves the rest when each operation takes too long", async () => {
    const left = await run(1_000, () => new Promise((resolve) => void setTimeout(resolve, 60_000)));
    expect(left).toBe(1_000 - 50);
    expect(starts).toHaveLength(50);
  });

  test("an operation that fails does not keep the others from their turn", async () => {
    const failing = run(20, (item) => (item === 3 ? Promise.reject(new Error("broken")) : Promise.resolve()));
    await expect(failing).rejects.toThrow("1 of 20 failed");
    expect(starts).toHaveLength(20);
  });
});

test("the operation that was checked last comes last in the next sweep", async () => {
  apiUrl();
  const ids = [newId("operation"), newId("operation"), newId("operation")] as const;
  const [first, second, third] = ids;
  for (const [index, id] of ids.entries())
    await putIfAbsent(keys.openOperation(id), {
      account_id: "acc_sweep",
      operation_id: id,
      created_at: `2000-01-0${index + 1}T00:00:00.000Z`,
    });
  const order = async () => (await openOperations()).filter(({ accountId }) => accountId === "acc_sweep").map(({ id }) => id);
  expect(await order()).toEqual([first, second, third]);
  await recordCheck(first);
  expect(await order()).toEqual([second, third, first]);
  await removeOpenMarker(second);
  await recordCheck(second);
  expect(await order()).toEqual([third, first]);
  await Promise.all(ids.map(removeOpenMarker));
});
