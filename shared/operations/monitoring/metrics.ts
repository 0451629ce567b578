// What GET /servers/:id/metrics and GET /instances/:id/metrics show of the figures that are stored.
import { invalid } from "../../api/errors.ts";
import type { Metrics } from "../../api/metrics.ts";
import { MINUTE_SECONDS } from "../../domain/durations.ts";
import { type MetricValues, POINTS_MAX, RING_MINUTES, type Series, type Step, STEPS } from "../../domain/metrics.ts";
import { readMetrics, Summary, type TimedPoint } from "../../records/metrics.ts";
import type { Point } from "../../records/metric-blocks.ts";

interface Query {
  from?: string | undefined;
  to?: string | undefined;
  step?: Step | undefined;
  series?: string[] | undefined;
}

interface Asked {
  all: readonly Series[];
  query: Query;
  /** The instance's ID; null for the server. */
  of: string | null;
}

export async function showMetrics(server: { account_id: string; id: string }, { all, query, of }: Asked): Promise<Metrics> {
  const { from, step, count } = chooseTime(query, Date.now());
  const points = await readMetrics(server, { from, to: from + count * step, step, only: of });
  const select: Select = (point) => (of === null ? point.server : point.instances.get(of));
  const steps = sumUp(points, { from, step, count }, select);
  const series = all.flatMap(({ name, unit }, index) => {
    if (query.series !== undefined && !query.series.includes(name)) return [];
    const values = steps.map((each) => rounded(each?.mean(index)));
    return [{ name, unit, values, ...(step > MINUTE_SECONDS && { maxima: steps.map((each) => rounded(each?.max(index))) }) }];
  });
  return { from: new Date(from * 1000).toISOString(), step, series };
}

/** A range of time, in seconds since 1970. */
interface Time {
  from: number;
  step: Step;
  count: number;
}

function chooseTime({ from: first, to: last, step: requestedStep }: Query, now: number): Time {
  const end = (last === undefined ? now : Date.parse(last)) / 1000;
  const start = first === undefined ? end - RING_MINUTES * MINUTE_SECONDS : Date.parse(first) / 1000;
  if (start >= end) throw invalid({ field: "from", reason: "must be earlier than to" });
  const times = (requestedStep === undefined ? STEPS : [requestedStep]).map((step): Time => {
    const from = Math.floor(start / step) * step;
    return { from, step, count: Math.ceil((end - from) / step) };
  });
  const time = times.find(({ count }) => count <= POINTS_MAX);
  if (time !== undefined) return time;
  throw invalid({ field: "step", reason: `must give at most ${POINTS_MAX} values between from and to` });
}

type Select = (point: Point) => MetricValues | undefined;

function sumUp(points: readonly TimedPoint[], { from, step, count }: Time, select: Select): (Summary | undefined)[] {
  const steps: (Summary | undefined)[] = Array.from({ length: count });
  for (const { at, seconds, means, maxima } of points) {
    const figures = select(means);
    const index = Math.floor((at - from) / step);
    if (figures === undefined || index < 0 || index >= count) continue;
    (steps[index] ??= new Summary()).add(figures, select(maxima) ?? figures, seconds);
  }
  return steps;
}

const rounded = (figure: number | null | undefined): number | null =>
  figure === null || figure === undefined ? null : Math.round(figure * 100) / 100;
