// Gives memory back when the service has been busy and is idle again.
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as z from "zod";

const LOOK_EVERY_MS = 15_000;
/**
 * The number of looks without work before memory is collected: by then the functions' threads have ended, which leave a part of
 * their memory to this one.
 */
const IDLE_LOOKS = 3;
/** The share of the time in which this thread computes. The schedules take some hundredths. */
const BUSY = 0.2;

type Collect = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/**
 * V8 collects what a busy minute has left when the heap next grows, which may be hours later: after a start, and after 50,000
 * requests, some 200 MB.
 */
export function collectWhenIdle(everyMs = LOOK_EVERY_MS): void {
  setFlagsFromString("--expose-gc");
  const collect = z.custom<Collect>((value) => typeof value === "function").parse(runInNewContext("gc"));
  let last = performance.eventLoopUtilization();
  let idleLooks = 0;
  setInterval(() => {
    const isBusy = performance.eventLoopUtilization(last).utilization > BUSY;
    idleLooks = isBusy ? 0 : idleLooks + 1;
    // V8 collects as if memory had run out, and also gives back the pages that it keeps for the next objects.
    if (idleLooks === IDLE_LOOKS) collect({ type: "major", execution: "sync", flavor: "last-resort" });
    last = performance.eventLoopUtilization();
  }, everyMs).unref();
}
