// When an API key expires: at the end of a day in the user's time zone.

export const EXPIRIES = {
  "30": { label: "In 30 days", days: 30 },
  "90": { label: "In 90 days", days: 90 },
  "365": { label: "In 1 year", days: 365 },
  on: { label: "On a specific date", days: undefined },
  never: { label: "Never", days: undefined },
} as const;
export type Expiry = keyof typeof EXPIRIES;

export const isExpiry = (value: unknown): value is Expiry => typeof value === "string" && Object.hasOwn(EXPIRIES, value);

/** Undefined for never; null while the typed date is invalid. */
export function endOf(expiry: Expiry, date: string): Date | undefined | null {
  if (expiry === "never") return undefined;
  const { days } = EXPIRIES[expiry];
  if (days === undefined) return endOfDay(date);
  const end = new Date();
  end.setDate(end.getDate() + days);
  end.setHours(23, 59, 59, 0);
  return end;
}

/** Parses a date such as 2027-01-31; undefined for an incomplete one. */
const endOfDay = (date: string): Date | null => (/^\d{4}-\d{2}-\d{2}$/.test(date) ? new Date(`${date}T23:59:59`) : null);
