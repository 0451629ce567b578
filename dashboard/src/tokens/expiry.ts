// An API key expires at the end of a day in the zone that the user has chosen for times.
import { dayIn, isDay, nextDay, startOf } from "../resource/words/moment.ts";
import { serviceNow } from "../session/clock.ts";

const EXPIRIES = ["30", "90", "365", "on", "never"] as const;
export type Expiry = (typeof EXPIRIES)[number];

/** What there is to choose from, if keys may live for so many days at most: then "never" is the longest time. */
export const choicesWithin = (maxDays: number | null): Expiry[] =>
  EXPIRIES.filter((each) => each === "on" || each === "never" || Number(each) < (maxDays ?? Infinity));

export const isExpiry = (value: unknown): value is Expiry => EXPIRIES.some((each) => each === value);

/** Undefined for never, or the longest time; null while the typed date is invalid. */
export function endOf(expiry: Expiry, date: string): Date | undefined | null {
  if (expiry === "never") return undefined;
  if (expiry === "on") return isDay(date) ? endOfDay(date) : null;
  const last = dayIn(serviceNow());
  last.setDate(last.getDate() + Number(expiry));
  return endOfDay(toIsoDay(last));
}

/** The last second of a day such as 2027-01-31. */
const endOfDay = (day: string): Date => new Date(Date.parse(startOf(nextDay(day))) - 1000);

const toIsoDay = (date: Date): string =>
  new Date(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate())).toISOString().slice(0, 10);
