// How figures are stored: what comes back, and what it costs.
import { expect, test } from "vitest";
import { type MetricValues, METRIC_DAYS, INSTANCE_SERIES, type Series, SERVER_SERIES } from "../../shared/domain/metrics.ts";
import { idFrom, newId } from "../../shared/domain/ids.ts";
import { type Block, packBlock, type Point, unpackBlock } from "../../shared/records/metric-blocks.ts";
import { summarize } from "../../shared/records/metrics.ts";
import { keys } from "../../shared/data/keys.ts";
import { itemBytes, writeUnits } from "../harness/item-size.ts";

/** The same each time. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A busy server: each figure wanders, and the flows jump by a third from minute to minute. */
function busy(points: number, instances: number): Point[] {
  const random = generator(points * 100 + instances);
  const MEAN: Readonly<Record<Series["unit"], number>> = {
    percent: 35,
    load: 1.4,
    bytes: 1.2e9,
    bytes_per_second: 240_000,
    per_minute: 90,
    milliseconds: 310,
    count: 9,
    seconds: 12,
  };
  const SLOW = 11; // the last four series come once in ten minutes
  const jump: Readonly<Partial<Record<Series["unit"], number>>> = { bytes: 0.004, percent: 0.15, load: 0.1, count: 0.2 };
  const figures = (all: readonly Series[], minute: number): MetricValues =>
    all.map(({ unit }, index) => {
      if (all === INSTANCE_SERIES && index >= SLOW && minute % 10 !== 3) return null;
      return Math.max(0, MEAN[unit] * (1 + (jump[unit] ?? 0.3) * (2 * random() - 1)));
    });
  const ids = Array.from({ length: instances }, () =>
    idFrom(
      "instance",
      1.79e12,
      Uint8Array.from({ length: 10 }, () => 256 * random()),
    ),
  );
  return Array.from({ length: points }, (_, minute) => ({
    server: figures(SERVER_SERIES, minute),
    instances: new Map(ids.map((id) => [id, figures(INSTANCE_SERIES, minute)])),
  }));
}

function expectNear(back: readonly (Point | undefined)[], points: readonly (Point | undefined)[]): void {
  expect(back).toHaveLength(points.length);
  for (const [index, point] of points.entries()) {
    const actual = back[index];
    if (point === undefined) {
      expect(actual).toBeUndefined();
      continue;
    }
    expect([...(actual?.instances.keys() ?? [])]).toEqual([...point.instances.keys()]);
    const near = (all: readonly Series[], one: MetricValues | undefined, other: MetricValues): void => {
      for (const [place, { name, unit }] of all.entries()) {
        const [value, expected] = [one?.[place] ?? null, other[place] ?? null];
        if (expected === null || value === null) expect(value, name).toBe(expected);
        else
          expect(Math.abs(value - expected), name).toBeLessThanOrEqual(
            unit === "bytes" ? 2 ** 19 : Math.max(0.5, 0.034 * expected),
          );
      }
    };
    near(SERVER_SERIES, actual?.server, point.server);
    for (const [id, figures] of point.instances) near(INSTANCE_SERIES, actual?.instances.get(id), figures);
  }
}

test("figures come back as they were, but for what nobody sees in a chart", () => {
  const points = busy(10, 3);
  expectNear(unpackBlock(packBlock({ points })).points, points);
  const gaps: (Point | undefined)[] = [...points];
  gaps[2] = undefined;
  gaps[9] = undefined;
  expectNear(unpackBlock(packBlock({ points: gaps })).points, gaps);
});

test("of one instance alone, or of none, the same comes back", () => {
  const points = busy(10, 3);
  for (const maxima of [undefined, points]) {
    const packed = packBlock({ points, maxima });
    const unpacked = unpackBlock(packed);
    for (const only of [...(points[0]?.instances.keys() ?? []), null]) {
      const narrowed = unpacked.points.map(
        (point) => point && { ...point, instances: new Map([...point.instances].filter(([id]) => id === only)) },
      );
      expect(unpackBlock(packed, only).points).toEqual(narrowed);
    }
  }
});

test("means have their maxima, and come back finer", () => {
  const points = busy(12, 2);
  const maxima = points.map(({ server, instances }) => ({
    server: server.map((figure) => figure && figure * 3),
    instances: new Map([...instances].map(([id, figures]) => [id, figures.map((figure) => figure && figure * 3)])),
  }));
  const back = unpackBlock(packBlock({ points, maxima }));
  expectNear(back.points, points);
  expectNear(back.maxima ?? [], maxima);
  const rare: Block = {
    points: [{ server: [], instances: new Map([[newId("instance"), [null, null, null, null, null, null, 0.1, 0.02]]]) }],
  };
  const [mean] = unpackBlock(packBlock({ ...rare, maxima: rare.points })).points;
  expect([...(mean?.instances.values() ?? [])][0]?.slice(6, 8)).toEqual([0.1, 0.02]);
});

test("extremes come back, and what is cut off is an error", () => {
  const points: Point[] = [0, 1e12, 0].map((figure) => ({ server: SERVER_SERIES.map(() => figure), instances: new Map() }));
  const packed = packBlock({ points });
  expectNear(unpackBlock(packed).points, points);
  expect(() => unpackBlock(packed.subarray(0, packed.length - 3))).toThrow("unexpected end of file");
});

test("a visit with ten minutes of seven instances is one write unit, and a day has what docs/scale.md reckons with", () => {
  const item = (kind: string, block: Block) => ({
    pk: keys.figures(newId("account"), newId("server")),
    sk: `${kind}029898000`,
    d: packBlock(block),
    ttl: 1_795_751_464,
  });
  const visit = item("m", { points: busy(10, 7) });
  expect(writeUnits(visit)).toBe(1);
  expect(itemBytes(visit)).toBeGreaterThan(500);
  const summed = (count: number, step: number): Block => {
    const minutes = busy(count * step, 7).map((means, index) => ({ at: 60 * index, seconds: 60, means, maxima: means }));
    return summarize(minutes, { from: 0, step: 60 * step, count });
  };
  const [tens, hours] = [item("t", summed(72, 10)), item("u", summed(24, 60))];
  // docs/scale.md reckons like this, with the prices there, for 10,000 servers with seven instances each.
  const [servers, days] = [10_000, 30];
  const units = 144 * writeUnits(visit) + 2 * writeUnits(tens) + writeUnits(hours);
  const storedBytes = (each: object, perDay: number, kind: keyof typeof METRIC_DAYS): number =>
    (itemBytes(each) + 100) * perDay * (METRIC_DAYS[kind] + 1);
  const stored = storedBytes(visit, 144, "minutes") + storedBytes(tens, 2, "tens") + storedBytes(hours, 1, "hours");
  const readUnits = (144 * itemBytes(visit)) / 4096 / 2; // when a day is summed up
  const usd = {
    writes: (servers * days * units * 0.625) / 1e6,
    reads: (servers * days * readUnits * 0.125) / 1e6,
    storage: (servers * stored * 0.25) / 1e9,
  };
  expect([itemBytes(visit), itemBytes(tens), itemBytes(hours)]).toEqual([950, 7092, 2361]);
  expect(usd.writes + usd.reads + usd.storage).toBeLessThan(40);
  expect(Object.values(usd).map((each) => Number(each.toFixed(1)))).toEqual([30.2, 0.6, 8.8]);
});
