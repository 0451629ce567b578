// Figures in the table, by server: an item for each visit, with the minutes since the one before; and from each day that is over,
// the means and maxima of ten minutes and of hours. Nothing removes them but their time to live.
import * as z from "zod";
import { keys } from "../data/keys.ts";
import { putOne, queryAll } from "../data/table.ts";
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from "../domain/durations.ts";
import { METRIC_DAYS, type MetricValues, RING_MINUTES, type Sample } from "../domain/metrics.ts";
import { log } from "../platform/log.ts";
import { type Block, packBlock, type Point, unpackBlock } from "./metric-blocks.ts";

const TEN_MINUTES = 600;
/** A block of ten minutes covers so much: with that of a day, a server of 150 instances would have too large an item. */
const TENS_BLOCK = DAY_SECONDS / 2;

/** The kinds of block: `minutes` begin whenever a visit came, the others with a part of a day. */
const KINDS = {
  minutes: { letter: "m", step: MINUTE_SECONDS, days: METRIC_DAYS.minutes },
  tens: { letter: "t", step: TEN_MINUTES, days: METRIC_DAYS.tens },
  hours: { letter: "u", step: HOUR_SECONDS, days: METRIC_DAYS.hours },
} as const;
type Kind = keyof typeof KINDS;

const MINUTES_MAX = 999_999_999;
/** Sorts by time. People may ask for times before 1970, and after 3871. */
const sortKey = (kind: Kind, at: number): string =>
  `${KINDS[kind].letter}${String(Math.min(MINUTES_MAX, Math.max(0, Math.floor(at / MINUTE_SECONDS)))).padStart(9, "0")}`;
const timeIn = (sk: string): number => Number(sk.slice(1)) * MINUTE_SECONDS;

/** Identifies a server's partition. Times below are in seconds since 1970. */
interface MetricOwner {
  account_id: string;
  id: string;
}

async function write({ account_id, id }: MetricOwner, kind: Kind, at: number, block: Block): Promise<void> {
  const ttl = at + (KINDS[kind].days + 1) * DAY_SECONDS;
  await putOne({ pk: keys.figures(account_id, id), sk: sortKey(kind, at) }, { d: packBlock(block), ttl });
}

const minuteOf = ({ at }: Sample): number => Math.floor(at / MINUTE_SECONDS);

/** What a visit brought, without what is older than the ring was at its newest sample. Two samples of one minute are one. */
export async function storeSamples(server: MetricOwner, samples: readonly Sample[]): Promise<void> {
  const last = Math.max(...samples.map(minuteOf));
  const recentSamples = samples.filter((sample) => minuteOf(sample) >= last - RING_MINUTES);
  if (recentSamples.length === 0) return;
  const first = Math.min(...recentSamples.map(minuteOf));
  const points: (Point | undefined)[] = Array.from({ length: last - first + 1 });
  for (const sample of recentSamples) points[minuteOf(sample) - first] = sample;
  await write(server, "minutes", first * MINUTE_SECONDS, { points });
}

const Stored = z.object({ sk: z.string(), d: z.instanceof(Uint8Array) });

/** A point, where its time begins, and how long it is. `maxima` is the point itself if it is a minute. */
export interface TimedPoint {
  at: number;
  seconds: number;
  means: Point;
  maxima: Point;
}

/** A time, and whose figures are read: of one instance alone, with null of the server alone; otherwise of all. */
interface Range {
  from: number;
  to: number;
  only?: string | null;
}

/** The points of a kind between two times. An item that cannot be read costs its own points. */
async function readKind({ account_id, id }: MetricOwner, kind: Kind, { from, to, only }: Range): Promise<TimedPoint[]> {
  const longest = { minutes: RING_MINUTES * MINUTE_SECONDS, tens: TENS_BLOCK, hours: DAY_SECONDS }[kind];
  const between = [sortKey(kind, from - longest), sortKey(kind, to)] as const;
  const { step } = KINDS[kind];
  return (await queryAll(keys.figures(account_id, id), { between })).flatMap((item) => {
    try {
      const { sk, d } = Stored.parse(item);
      const { points, maxima = points } = unpackBlock(d, only);
      return points.flatMap((means, index): TimedPoint[] => {
        const at = timeIn(sk) + index * step;
        return means === undefined || at < from || at >= to ? [] : [{ at, seconds: step, means, maxima: maxima[index] ?? means }];
      });
    } catch (error) {
      log.warn("figures that are stored cannot be read", { server: id, error });
      return [];
    }
  });
}

/** Those of the last visit, if it was lately. */
export async function newestMetrics(server: MetricOwner): Promise<TimedPoint[]> {
  const now = Math.floor(Date.now() / 1000);
  const last = await readKind(server, "minutes", { from: now - LATELY, to: now + MINUTE_SECONDS });
  const newest = last.at(-1);
  return newest === undefined ? [] : last.filter(({ at }) => at > newest.at - TEN_MINUTES);
}
const LATELY = 30 * MINUTE_SECONDS;

/** Points of at most a step: as long ones as there are, and minutes where there are none yet. */
export async function readMetrics(server: MetricOwner, { step, ...range }: Range & { step: number }): Promise<TimedPoint[]> {
  const kind = step < TEN_MINUTES ? undefined : step < HOUR_SECONDS ? "tens" : "hours";
  const summed = kind === undefined ? [] : await readKind(server, kind, range);
  const last = summed.at(-1);
  const from = last === undefined ? range.from : last.at + last.seconds;
  const minutes = from >= range.to ? [] : await readKind(server, "minutes", { ...range, from });
  return [...summed, ...minutes];
}

/** The figures of a time: the means of their minutes, and their maxima. */
export class Summary {
  private sums: number[] = [];
  private weights: number[] = [];
  private most: number[] = [];

  add(means: MetricValues, maxima: MetricValues, weight: number): void {
    for (const [index, mean] of means.entries()) {
      if (mean === null) continue;
      this.sums[index] = (this.sums[index] ?? 0) + mean * weight;
      this.weights[index] = (this.weights[index] ?? 0) + weight;
      this.most[index] = Math.max(this.most[index] ?? -Infinity, maxima[index] ?? mean);
    }
  }

  mean(index: number): number | null {
    const weight = this.weights[index] ?? 0;
    return weight === 0 ? null : (this.sums[index] ?? 0) / weight;
  }

  max(index: number): number | null {
    return this.most[index] ?? null;
  }

  figures(count: number): { means: MetricValues; maxima: MetricValues } {
    const indices = Array.from({ length: count }, (_, index) => index);
    return { means: indices.map((index) => this.mean(index)), maxima: indices.map((index) => this.max(index)) };
  }
}

export function summarize(
  points: readonly TimedPoint[],
  { from, step, count }: { from: number; step: number; count: number },
): Block {
  const [means, maxima]: [(Point | undefined)[], (Point | undefined)[]] = [[], []];
  for (let index = 0; index < count; index++) {
    const start = from + index * step;
    const within = points.filter(({ at }) => at >= start && at < start + step);
    const point = within.length === 0 ? undefined : summarizePoint(within);
    means.push(point?.means);
    maxima.push(point?.maxima);
  }
  return { points: means, maxima };
}

function summarizePoint(points: readonly TimedPoint[]): { means: Point; maxima: Point } {
  const serverSummary = new Summary();
  const instances = new Map<string, Summary>();
  for (const { means, maxima, seconds } of points) {
    serverSummary.add(means.server, maxima.server, seconds);
    for (const [id, figures] of means.instances) {
      const summary = instances.get(id) ?? new Summary();
      instances.set(id, summary);
      summary.add(figures, maxima.instances.get(id) ?? figures, seconds);
    }
  }
  const length = (figures: MetricValues[]): number => Math.max(0, ...figures.map((each) => each.length));
  const server = serverSummary.figures(length(points.map(({ means }) => means.server)));
  const all = [...instances].map(
    ([id, summary]) => [id, summary.figures(length(points.map(({ means }) => means.instances.get(id) ?? [])))] as const,
  );
  return {
    means: { server: server.means, instances: new Map(all.map(([id, { means }]) => [id, means])) },
    maxima: { server: server.maxima, instances: new Map(all.map(([id, { maxima }]) => [id, maxima])) },
  };
}

/** Sums up a day, which is over. Done twice, it writes the same. */
export async function sumUpDay(server: MetricOwner, day: number): Promise<void> {
  const from = day * DAY_SECONDS;
  const minutes = await readKind(server, "minutes", { from, to: from + DAY_SECONDS });
  if (minutes.length === 0) return;
  for (let start = from; start < from + DAY_SECONDS; start += TENS_BLOCK) {
    const tens = summarize(minutes, { from: start, step: TEN_MINUTES, count: TENS_BLOCK / TEN_MINUTES });
    if (tens.points.some((point) => point !== undefined)) await write(server, "tens", start, tens);
  }
  // Last: as long as there are none, the day's minutes are read.
  await write(server, "hours", from, summarize(minutes, { from, step: HOUR_SECONDS, count: DAY_SECONDS / HOUR_SECONDS }));
}
