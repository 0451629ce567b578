// The days of a month as a calendar shows them: whole weeks, from Monday.

export interface Month {
  from: Date;
  /** The first day of the next month. */
  until: Date;
}

/** The month some months after, or before, that of a day. */
export const monthOf = (day: Date, months: number): Month => ({
  from: new Date(day.getFullYear(), day.getMonth() + months, 1),
  until: new Date(day.getFullYear(), day.getMonth() + months + 1, 1),
});

/** Days are compared by their date: one of 23 or 25 hours is one day, too. */
export const dayOf = (at: Date): string => `${at.getFullYear()}-${at.getMonth()}-${at.getDate()}`;

const DAYS_OF_WEEK = 7;

export function weeksOf({ from, until }: Month): Date[][] {
  const weeks: Date[][] = [];
  const before = (from.getDay() + 6) % DAYS_OF_WEEK; // Sunday is 0
  for (let date = 1 - before; new Date(from.getFullYear(), from.getMonth(), date) < until; date += DAYS_OF_WEEK)
    weeks.push(Array.from({ length: DAYS_OF_WEEK }, (_, day) => new Date(from.getFullYear(), from.getMonth(), date + day)));
  return weeks;
}
