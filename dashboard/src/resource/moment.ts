// A time in the browser's locale, always with 24 hours and seconds; in full, with the offset from UTC.
const short = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
const exact = new Intl.DateTimeFormat(undefined, {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
  timeZoneName: "shortOffset",
});

export const inShort = (at: string): string => short.format(new Date(at));
export const inFull = (at: string): string => exact.format(new Date(at));
