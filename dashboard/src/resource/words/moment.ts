// A time in the locale of the page's language, always with 24 hours and seconds; in full, with the offset from UTC. In the zone
// that the user chose.
import { locale } from "../../messages/language.ts";
import { text } from "../../messages/text.ts";
import { createStore } from "../../session/store.ts";

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
/** On the axis of a chart. */
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
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** When a record was created, by its ID alone. */
export const formatTimeOfId = (id: string): string =>
  formatTime(
    new Date(
      id
        .slice(...TIME_IN_ID)
        .split("")
        .reduce((sum, each) => sum * 32 + ALPHABET.indexOf(each), 0),
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

/** When a day such as 2026-11-20 begins in the chosen zone. */
export const startOf = (day: string): string =>
  new Date(chosen.get() === "utc" ? `${day}T00:00:00Z` : `${day}T00:00:00`).toISOString();

/** A text such as 2026-11-20T22:00, as a field of the browser has it, in the chosen zone; undefined if it is none. */
export function momentOfField(text: string): string | undefined {
  const time = new Date(chosen.get() === "utc" ? `${text}Z` : text);
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) && !Number.isNaN(time.getTime()) ? time.toISOString() : undefined;
}

export const nextDay = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
