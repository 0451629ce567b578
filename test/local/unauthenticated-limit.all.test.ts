// How many networks the local gateway remembers.
import { expect, test } from "vitest";
import { limitUnauthenticated } from "../../infra/local/gateway/unauthenticated-limit.ts";

test("of more networks than it remembers, it forgets those whose windows began first", () => {
  let at = 0;
  const strangers = limitUnauthenticated(1, () => at);
  const isRejected = (sourceIp: string): boolean => strangers.rejection({ sourceIp, requestId: "r" }) !== undefined;
  strangers.count("192.0.2.1");
  at = 200_000;
  strangers.count("192.0.2.2");
  at = 300_000;
  strangers.count("192.0.2.1"); // a new window
  for (let i = 0; i < 9_998; i++) strangers.count(`10.0.${i >> 8}.${i & 255}`);
  expect(["192.0.2.1", "192.0.2.2", "10.0.0.0"].map(isRejected)).toEqual([true, true, true]);
  strangers.count("192.0.2.3");
  expect(["192.0.2.1", "192.0.2.2", "10.0.0.0"].map(isRejected)).toEqual([true, false, true]);
  strangers.count("192.0.2.4");
  expect(["192.0.2.1", "192.0.2.3", "192.0.2.4", "10.0.0.0"].map(isRejected)).toEqual([false, true, true, true]);
});
