// When an API key expires: at the end of a day in the user's time zone.
import { serviceNow } from "../session/clock.ts";

export const EXPIRIES = ["30", "90", "365", "on", "never"] as const;
export type Expiry = (typeof EXPIRIES)[number];

export const isExpiry = (value: unknown): value is Expiry => EXPIRIES.some((each) => each === value);

/** Undefined for never; null while the typed date is invalid. */
export function endOf(expiry: Expiry, date: string): Date | undefined | null {
  if (expiry === "never") return undefined;
  if (expiry === "on") return endOfDay(date);
  const end = new Date(serviceNow());
  end.setDate(end.getDate() + Number(expiry));
  end.setHours(23, 59, 59, 0);
  return end;
}

/** Parses a date such as 2027-01-31; undefined for an incomplete one. */
const endOfDay = (date: string): Date | null => (/^\d{4}-\d{2}-\d{2}$/.test(date) ? new Date(`${date}T23:59:59`) : null);
