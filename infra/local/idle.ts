// Gives memory back when the service has been busy and is idle again.
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as z from "zod";

const LOOK_EVERY_MS = 15_000;
/** The share of the time in which this thread computes. The schedules take some hundredths. */
const BUSY = 0.2;

/** V8 collects what a busy minute has left when the heap next grows, which may be hours later: after a start, and after 50,000 requests, some 200 MB. */
export function collectWhenIdle(everyMs = LOOK_EVERY_MS): void {
  setFlagsFromString("--expose-gc");
  const collect = z.custom<() => void>((value) => typeof value === "function").parse(runInNewContext("gc"));
  let last = performance.eventLoopUtilization();
  let wasBusy = true; // starting
  setInterval(() => {
    const isBusy = performance.eventLoopUtilization(last).utilization > BUSY;
    if (wasBusy && !isBusy) collect();
    wasBusy = isBusy;
    last = performance.eventLoopUtilization();
  }, everyMs).unref();
}
