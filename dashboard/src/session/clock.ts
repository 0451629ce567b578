// The service's time, by the dates of its responses: the browser's own clock may be a day off.

let ahead = 0;
/** A date has no fractions of a second, and its response took some time. */
const NOISE_MS = 30_000;

export const serviceNow = (): number => Date.now() + ahead;

export function adjustClock(date: string | null): void {
  const measured = Date.parse(date ?? "") - Date.now();
  if (!Number.isNaN(measured)) ahead = Math.abs(measured) < NOISE_MS ? 0 : measured;
}
