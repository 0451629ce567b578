// A clock that a test drives: this process and all functions of its cloud read it.
import { afterAll } from "vitest";
import { driveClock } from "../../infra/local/lambda/clock.mjs";

export interface TestClock {
  /** The memory that `ownCloud` shares with the clock. */
  shared: SharedArrayBuffer;
  /** Moves the clock to a time (ISO 8601), forward or back; it goes on from there. */
  set: (at: string) => void;
  advance: (minutes: number) => void;
}

export function testClock(): TestClock {
  const shared = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  const ahead = new Float64Array(shared);
  const machines = globalThis.Date;
  driveClock(shared);
  afterAll(() => void (globalThis.Date = machines));
  const moveBy = (milliseconds: number): void => void (ahead[0] = (ahead[0] ?? 0) + milliseconds);
  return {
    shared,
    set: (at) => moveBy(Date.parse(at) - Date.now()),
    advance: (minutes) => moveBy(minutes * 60_000),
  };
}
