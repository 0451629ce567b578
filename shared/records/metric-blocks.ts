// How figures are stored: a block has those of a server and its instances for some points in time, each as the difference to
// the one before, deflated. They are rounded: percent to halves, bytes that are used to a mebibyte, and all else by at most
// three in a hundred, which nobody sees in a chart.
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { bytesOfId, idOfBytes } from "../domain/ids.ts";
import { type SeriesUnit, type MetricValues, INSTANCE_SERIES, SERVER_SERIES } from "../domain/metrics.ts";

/** The figures of one point: of the server, and of its instances by their ID. */
export interface Point {
  server: MetricValues;
  instances: ReadonlyMap<string, MetricValues>;
}

export interface Block {
  /** A point for each step of the block's time; undefined where nothing is known. */
  points: readonly (Point | undefined)[];
  /** Means have their maxima beside them. */
  maxima?: readonly (Point | undefined)[] | undefined;
}

const MIB = 2 ** 20;
/** What one is counted in. All but percent and bytes are exact up to 32 of these, and rounded beyond. */
const UNITS: Readonly<Record<SeriesUnit, number>> = {
  percent: 0.5,
  load: 0.01,
  bytes: MIB,
  bytes_per_second: 1,
  per_minute: 1,
  milliseconds: 1,
  count: 1,
  seconds: 1,
};
const isRounded = (unit: SeriesUnit): boolean => unit !== "bytes" && unit !== "percent";

/** Means are finer: an error in an hour is a sixtieth of one a minute. */
const MEANS_FINER = 100;

const EXACT = 32;
const PER_DOUBLING = 16;

/** 32 is followed by 34, 64 by 68, 128 by 136, and so on. */
function toCode(value: number): number {
  if (value < EXACT) return Math.round(value);
  const doublings = Math.floor(Math.log2(value / EXACT)) + 1;
  return EXACT + PER_DOUBLING * (doublings - 2) + Math.round(value / 2 ** doublings);
}

function fromCode(code: number): number {
  if (code < EXACT) return code;
  const doublings = Math.floor((code - EXACT) / PER_DOUBLING) + 1;
  return (PER_DOUBLING + ((code - EXACT) % PER_DOUBLING)) * 2 ** doublings;
}

/** Twice of it is still an exact number. */
const COUNT_MAX = 4e15;

const unitSize = (unit: SeriesUnit, isMean: boolean): number => UNITS[unit] / (isMean && isRounded(unit) ? MEANS_FINER : 1);

function encodeValue(value: number, unit: SeriesUnit, isMean: boolean): number {
  const counted = Math.min(value / unitSize(unit, isMean), COUNT_MAX);
  return isRounded(unit) ? toCode(counted) : Math.round(counted);
}

function decodeValue(code: number, unit: SeriesUnit, isMean: boolean): number {
  const value = (isRounded(unit) ? fromCode(code) : code) * unitSize(unit, isMean);
  return Math.round(value * 100) / 100;
}

/** Numbers of seven bits a byte, the lowest first. */
function writeNumber(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}

const VERSION = 1;

export function packBlock({ points, maxima }: Block): Uint8Array {
  const ids = [...new Set(points.flatMap((point) => [...(point?.instances.keys() ?? [])]))];
  const bytes: number[] = [];
  for (const each of [
    VERSION,
    points.length,
    maxima === undefined ? 0 : 1,
    SERVER_SERIES.length,
    INSTANCE_SERIES.length,
    ids.length,
  ])
    writeNumber(bytes, each);
  for (const id of ids) bytes.push(...bytesOfId(id));
  const isMean = maxima !== undefined;
  const writeAll = (all: typeof SERVER_SERIES, find: (point: Point) => MetricValues | undefined): void => {
    for (const [index, { unit }] of all.entries()) {
      const codes = points.map((point) => encoded(point && find(point)?.[index], unit, isMean));
      writeColumn(bytes, codes);
      if (maxima !== undefined)
        writeColumn(
          bytes,
          maxima.map((point, at) => {
            const code = encoded(point && find(point)?.[index], unit, isMean);
            return code === null ? null : code - (codes[at] ?? 0);
          }),
        );
    }
  };
  writeAll(SERVER_SERIES, ({ server }) => server);
  for (const id of ids) writeAll(INSTANCE_SERIES, ({ instances }) => instances.get(id));
  return deflateRawSync(Uint8Array.from(bytes), { level: 9 });
}

const encoded = (value: number | null | undefined, unit: SeriesUnit, isMean: boolean): number | null =>
  value === null || value === undefined ? null : encodeValue(value, unit, isMean);

/** Each as the difference to the one before; 0 stands for none. */
function writeColumn(bytes: number[], codes: readonly (number | null)[]): void {
  let last = 0;
  for (const code of codes) {
    if (code === null) {
      bytes.push(0);
      continue;
    }
    const difference = code - last;
    writeNumber(bytes, 1 + (difference >= 0 ? 2 * difference : -2 * difference - 1));
    last = code;
  }
}

/** Nothing that is stored becomes larger than this. */
const BYTES_MAX = 16 * MIB;

/**
 * Unpacks a block: with `only`, the figures of this instance alone, with null, of none. Those of a large server over a year would
 * fill a function's memory.
 */
export function unpackBlock(packed: Uint8Array, only?: string | null): Block {
  const isWanted = (id: string): boolean => only === undefined || only === id;
  const bytes = inflateRawSync(packed, { maxOutputLength: BYTES_MAX });
  let offset = 0;
  const number = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = bytes[offset++];
      if (byte === undefined) throw new Error("A block of figures ends too soon");
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  if (number() !== VERSION) throw new Error("A block of figures has another form");
  const [count, hasMaxima, ofServer, ofInstance, instances] = [number(), number() === 1, number(), number(), number()];
  const ids = Array.from({ length: instances }, (_, index) =>
    idOfBytes("instance", bytes.subarray(offset + 16 * index, offset + 16 * (index + 1))),
  );
  offset += 16 * instances;
  const column = (): (number | null)[] => {
    let last = 0;
    return Array.from({ length: count }, () => {
      const written = number();
      if (written === 0) return null;
      last += written % 2 === 1 ? (written - 1) / 2 : -written / 2;
      return last;
    });
  };
  const subject = (all: typeof SERVER_SERIES, stored: number) => {
    const [means, most]: [(number | null)[][], (number | null)[][]] = [[], []];
    for (let index = 0; index < stored; index++) {
      const unit = all[index]?.unit;
      const codes = column();
      const differences = hasMaxima ? column() : [];
      if (unit === undefined) continue; // of a later version
      const decoded = (code: number | null | undefined) =>
        code === null || code === undefined ? null : decodeValue(code, unit, hasMaxima);
      means.push(codes.map(decoded));
      most.push(differences.map((difference, at) => decoded(difference === null ? null : difference + (codes[at] ?? 0))));
    }
    return { means, most };
  };
  const server = subject(SERVER_SERIES, ofServer);
  const all = ids.map((id) => [id, subject(INSTANCE_SERIES, ofInstance)] as const).filter(([id]) => isWanted(id));
  const points = (kind: "means" | "most"): (Point | undefined)[] =>
    Array.from({ length: count }, (_, at) => {
      const instances = all.flatMap(([id, columns]): [string, MetricValues][] => {
        const figures = columns[kind].map((each) => each[at] ?? null);
        return figures.every((figure) => figure === null) ? [] : [[id, figures]];
      });
      const serverFigures = server[kind].map((each) => each[at] ?? null);
      return instances.length === 0 && serverFigures.every((figure) => figure === null)
        ? undefined
        : { server: serverFigures, instances: new Map(instances) };
    });
  return { points: points("means"), maxima: hasMaxima ? points("most") : undefined };
}
