// The figures that machines measure of themselves and of the instances on them: in the order in which a machine sends them
// (shared/hosts/script/sample.pl) and they are stored. New ones are added at the end.

export const SERIES_UNITS = [
  "percent",
  "load",
  "bytes",
  "bytes_per_second",
  "per_minute",
  "milliseconds",
  "count",
  "seconds",
] as const;
export type SeriesUnit = (typeof SERIES_UNITS)[number];

export interface Series {
  name: string;
  unit: SeriesUnit;
}

const series = (all: readonly (readonly [name: string, unit: SeriesUnit])[]): readonly Series[] =>
  all.map(([name, unit]) => ({ name, unit }));

export const SERVER_SERIES = series([
  ["cpu_percent", "percent"],
  ["load", "load"],
  ["memory_used_bytes", "bytes"],
  ["swap_used_bytes", "bytes"],
  ["disk_used_bytes", "bytes"],
  ["disk_read_bytes", "bytes_per_second"],
  ["disk_write_bytes", "bytes_per_second"],
  ["network_in_bytes", "bytes_per_second"],
  ["network_out_bytes", "bytes_per_second"],
]);

export const INSTANCE_SERIES = series([
  ["erp_cpu_percent", "percent"],
  ["erp_memory_bytes", "bytes"],
  ["database_cpu_percent", "percent"],
  ["database_memory_bytes", "bytes"],
  ["network_in_bytes", "bytes_per_second"],
  ["network_out_bytes", "bytes_per_second"],
  ["requests", "per_minute"],
  ["errors_5xx", "per_minute"],
  ["p50_ms", "milliseconds"],
  ["p95_ms", "milliseconds"],
  ["database_connections", "count"],
  ["database_bytes", "bytes"],
  ["filestore_bytes", "bytes"],
  ["cron_overdue_seconds", "seconds"],
  ["longest_transaction_seconds", "seconds"],
]);

/** A figure for each series; null is what could not be measured. */
export type MetricValues = readonly (number | null)[];

/** What a machine measured in a minute. */
export interface Sample {
  /** Seconds since 1970. */
  at: number;
  server: MetricValues;
  /** The values by the instance's ID. */
  instances: ReadonlyMap<string, MetricValues>;
}

/** One of the figures of a sample, by its name. */
export function pick(all: readonly Series[], figures: MetricValues | undefined, name: string): number | null {
  return figures?.[all.findIndex((each) => each.name === name)] ?? null;
}

/** The steps in which figures are shown, in seconds. */
export const STEPS = [60, 600, 3600, 86_400] as const;
export type Step = (typeof STEPS)[number];
/** Points of a series in a response. */
export const POINTS_MAX = 500;
/** How long figures are kept: each minute, the means and maxima of ten minutes, and those of an hour. */
export const METRIC_DAYS = { minutes: 7, tens: 90, hours: 400 } as const;
/** How far back a machine has its own. */
export const RING_MINUTES = 180;
