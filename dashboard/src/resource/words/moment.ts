// A time in the locale of the page's language, always with 24 hours and seconds; in full, with the offset from UTC. In the zone
// that the user chose.
import { locale } from "../../messages/language.ts";
import { text } from "../../messages/text.ts";
import { createStore } from "../../session/store.ts";
import { BASE32 } from "../../../../shared/domain/base32.ts";
import { DAY_MS, MINUTE_MS } from "../../../../shared/domain/durations.ts";

export const ZONES = ["local", "utc"] as const;
type Zone = (typeof ZONES)[number];

const KEY = "zone";
const chosen = createStore<Zone>(stored());

export const useZone = chosen.use;

export function chooseZone(zone: Zone): void {
  if (zone === "utc") localStorage.setItem(KEY, zone);
  else localStorage.removeItem(KEY);
  chosen.set(zone);
}

function stored(): Zone {
  return localStorage.getItem(KEY) === "utc" ? "utc" : "local";
}

window.addEventListener("storage", () => chosen.set(stored()));

const formatsIn = (timeZone: string | undefined) => ({
  short: new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23", timeZone }),
  exact: new Intl.DateTimeFormat(locale, {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "shortOffset",
    timeZone,
  }),
});
/** The formats on the axis of a chart. */
const ticksIn = (timeZone: string | undefined) => ({
  time: new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone }),
  day: new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone }),
});
const DAYS = {
  local: new Intl.DateTimeFormat(locale, { dateStyle: "medium" }),
  utc: new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" }),
};
const TICKS = { local: ticksIn(undefined), utc: ticksIn("UTC") };

const FORMATS = { local: formatsIn(undefined), utc: formatsIn("UTC") };

export function formatTime(at: string): string {
  const zone = chosen.get();
  const time = FORMATS[zone].short.format(new Date(at));
  return zone === "utc" ? text.resource.time.utc(time) : time;
}

/** IDs can be sorted by their time: ten characters of base32, in milliseconds. */
const TIME_IN_ID = [-26, -16] as const;
/** Returns when a record was created, by its ID alone. */
export const formatTimeOfId = (id: string): string =>
  formatTime(
    new Date(
      id
        .slice(...TIME_IN_ID)
        .split("")
        .reduce((sum, each) => sum * 32 + BASE32.indexOf(each), 0),
    ).toISOString(),
  );

export const formatFullTime = (at: string): string => FORMATS[chosen.get()].exact.format(new Date(at));

/** A time of figures that are so many seconds apart. */
export const formatTick = (at: Date, step: number): string => TICKS[chosen.get()][step < 3600 ? "time" : "day"].format(at);

/** A day alone. */
export const formatDay = (at: Date): string => DAYS[chosen.get()].format(at);

/** The day of a time in the chosen zone, as a date of the browser's. */
export function dayIn(at: number | string): Date {
  const time = new Date(at);
  return chosen.get() === "utc"
    ? new Date(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate())
    : new Date(time.getFullYear(), time.getMonth(), time.getDate());
}

/** Whether a text is a day such as 2026-11-20. */
export const isDay = (day: string): boolean => /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day));

/** Returns when a day such as 2026-11-20 begins in the chosen zone. */
export const startOf = (day: string): string =>
  new Date(chosen.get() === "utc" ? `${day}T00:00:00Z` : `${day}T00:00:00`).toISOString();

const FIELD = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/;

/** A text such as 2026-11-20T22:00, as a field of the browser has it, in the chosen zone; undefined if it is none. */
function momentOfField(text: string): string | undefined {
  const time = new Date(chosen.get() === "utc" ? `${text}Z` : text);
  return FIELD.test(text) && !Number.isNaN(time.getTime()) ? time.toISOString() : undefined;
}

/** A time as an address has it, with its zone, so that a link means the same for everybody. Earlier versions wrote none. */
export function momentOfAddress(text: string): string | undefined {
  const time = new Date(text);
  return /T.*(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(time.getTime()) ? time.toISOString() : momentOfField(text);
}

/** Zones had offsets with seconds before, which no field has; while the user types a year, it is 0002, 0020 and 0202. */
const FIRST_YEAR = "1900";

/** What the user has typed in a field of the browser, for the address: to the minute. */
export const addressOfField = (text: string): string =>
  text < FIRST_YEAR ? text : (momentOfField(text)?.replace(/:00\.000Z$/, "Z") ?? text);

/** A time of an address for a field of the browser, in the chosen zone. */
export function fieldOfAddress(text: string): string {
  const moment = FIELD.test(text) ? undefined : momentOfAddress(text);
  if (moment === undefined) return text;
  const time = new Date(moment);
  const offset = chosen.get() === "utc" ? 0 : time.getTimezoneOffset() * MINUTE_MS;
  return new Date(time.getTime() - offset).toISOString().slice(0, "2026-11-20T22:00".length);
}

export const nextDay = (day: string): string => new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);

/** A chosen day, for the address: when it begins here, with the offset, so that a link means the same everywhere. */
export function addressOfDay(day: string): string {
  if (!isDay(day)) return day;
  // The offset is that of midnight: where clocks go forward then, the day begins at 01:00, which has another offset.
  const east = (Date.parse(day) - Date.parse(startOf(day))) / MINUTE_MS;
  const digits = (count: number): string => String(Math.floor(count)).padStart(2, "0");
  return `${day}T00:00${east < 0 ? "-" : "+"}${digits(Math.abs(east) / 60)}:${digits(Math.abs(east) % 60)}`;
}

/** The day of an address, as whoever chose it calls it. Those of earlier versions are in the zone of whoever opens them. */
export const dayOfAddress = (address: string): string => address.slice(0, "2026-11-20".length);

/** Returns when the day of an address begins and ends; undefined if it is none. */
export function rangeOfAddress(address: string): { from: string; to: string } | undefined {
  const day = dayOfAddress(address);
  if (!isDay(day)) return undefined;
  const from = momentOfAddress(address) ?? startOf(day);
  // The day ends in the reader's own zone when the next begins, also where clocks change; in another one, where that is not
  // known, after 24 hours.
  const to = from === startOf(day) ? startOf(nextDay(day)) : new Date(Date.parse(from) + DAY_MS).toISOString();
  return { from, to };
}
