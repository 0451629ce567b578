// Local time in the IANA time zones, on top of what `Intl` knows of them.
//
// A wall time is what a clock in the zone shows, as the milliseconds that it would be in UTC.

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(zone, format);
  return format;
}

/** The names of three letters that IANA has. */
const SHORT_NAMES: readonly string[] = [
  "CET",
  "EET",
  "EST",
  "GMT",
  "HST",
  "MET",
  "MST",
  "PRC",
  "ROC",
  "ROK",
  "UCT",
  "UTC",
  "WET",
];

/**
 * Whether IANA has such a zone. What else `Intl` takes is none: offsets such as `+02:00`, `SystemV/…`, and old abbreviations, of which some are
 * not the zone that people mean by them (BST is in Bangladesh).
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name) || /^SystemV\//i.test(name)) return false;
  if (/^[A-Za-z]{3}$/.test(name) && !SHORT_NAMES.includes(name.toUpperCase())) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** What the zone's clocks show at an instant (ms since 1970). */
export function wallTime(zone: string, instant: number): number {
  if (zone === "UTC") return instant;
  const seconds = Math.floor(instant / 1000) * 1000;
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatOf(zone).formatToParts(seconds)) parts[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (instant - seconds);
}

const DAY_MS = 86_400_000;

/** The instant at which clocks show a wall time: the first one if they show it twice, the end of the gap if they skip it. */
export function instantOf(zone: string, wall: number): number {
  const offsets = [wall - DAY_MS, wall + DAY_MS].map((near) => wallTime(zone, near) - near);
  const candidates = offsets.map((offset) => wall - offset).toSorted((a, b) => a - b);
  const shown = candidates.find((instant) => wallTime(zone, instant) === wall);
  if (shown !== undefined) return shown;
  let [before = wall, after = wall] = candidates;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (wallTime(zone, middle) > wall) after = middle;
    else before = middle;
  }
  return after;
}
