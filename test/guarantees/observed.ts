// What somebody who compares two responses could learn from: their bytes, what they cost the database, and their time.
import { expect } from "vitest";
import type { ApiResponse } from "../harness/client.ts";
import type { TestCloud } from "../harness/facts.ts";

/** The calls of the database that a request makes, by what they are, without what they are about. */
export async function observed(
  cloud: TestCloud,
  ask: () => Promise<ApiResponse>,
): Promise<{ response: ApiResponse; calls: string[] }> {
  const calls: string[] = [];
  const stop = cloud.aws.calls.subscribe(({ principal, service, action, status, attempt }) => {
    if (attempt === 1) calls.push(`${principal} ${service} ${action} ${status}`); // not what a busy machine lets an SDK try again
  });
  const response = await ask();
  stop();
  return { response, calls: calls.toSorted() };
}

/** The values of its headers are not compared: limits count down. */
export const bare = ({ status, text, headers }: ApiResponse) => ({
  status,
  text,
  headers: Object.keys(headers)
    .filter((name) => name !== "x-request-id")
    .toSorted(),
});

/** What is not timed; it returns the request, which is. */
type Prepare = (index: number) => Promise<() => Promise<unknown>>;

const NEAR = 0.05;

/** Time is compared over interleaved tries, so that what else the machine does hits both. */
export async function expectSameTime(label: string, tries: number, [one, other]: readonly [Prepare, Prepare]): Promise<void> {
  const times = new Map<Prepare, number[]>([
    [one, []],
    [other, []],
  ]);
  for (let i = 0; i < tries; i++)
    for (const prepare of i % 2 === 0 ? [one, other] : [other, one]) {
      const send = await prepare(i);
      const began = performance.now();
      await send();
      times.get(prepare)?.push(performance.now() - began);
    }
  const [first, second] = [median(times.get(one) ?? []), median(times.get(other) ?? [])];
  expect(Math.abs(second - first) / first, `${label}: ${second} ms against ${first} ms`).toBeLessThan(NEAR);
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
