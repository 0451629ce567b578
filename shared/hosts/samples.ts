// What a machine's timer has measured (script/sample.pl), as far as it can be believed: its root may be hostile, and a
// figure or a line that is wrong costs nothing but itself. A tenant has an influence on the figures of their own containers.
import * as z from "zod";
import { MINUTE_SECONDS } from "../domain/durations.ts";
import { type MetricValues, INSTANCE_SERIES, RING_MINUTES, type Sample, type Series, SERVER_SERIES } from "../domain/metrics.ts";
import { isId } from "../domain/ids.ts";
import { parseJson } from "../domain/json.ts";

/** More than the figures of any machine. */
const VALUE_MAX = 1e15;
/** More than the instances of any machine. */
export const INSTANCES_MAX = 1000;

const Measured = z.array(z.number().min(0).max(VALUE_MAX).nullable().catch(null)).max(100);
const Line = z.object({ t: z.number().int(), s: Measured, i: z.record(z.string(), Measured) });

/** The samples in these lines, in order. Those older than the ring, or in the future, are dropped. */
export function parseSamples(text: string, now: number): Sample[] {
  return text
    .trimEnd()
    .split("\n")
    .slice(-RING_MINUTES)
    .flatMap((line): Sample[] => {
      const { success, data } = Line.safeParse(parseJson(line));
      if (!success || data.t > now + MINUTE_SECONDS || data.t < now - (RING_MINUTES + 1) * MINUTE_SECONDS) return [];
      const instances = Object.entries(data.i)
        .filter(([id]) => isId("instance", id))
        .slice(0, INSTANCES_MAX);
      return [
        {
          at: data.t,
          server: complete(data.s, SERVER_SERIES),
          instances: new Map(instances.map(([id, figures]) => [id, complete(figures, INSTANCE_SERIES)])),
        },
      ];
    })
    .toSorted((one, other) => one.at - other.at);
}

/** A machine with an earlier script measures less. */
const complete = (figures: MetricValues, all: readonly Series[]): MetricValues => all.map((_, index) => figures[index] ?? null);
