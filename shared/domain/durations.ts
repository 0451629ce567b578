// Lengths of time that the code calculates with.

export const MINUTE_SECONDS = 60;
export const HOUR_SECONDS = 60 * MINUTE_SECONDS;
export const DAY_SECONDS = 24 * HOUR_SECONDS;

export const MINUTE_MS = 1000 * MINUTE_SECONDS;
export const HOUR_MS = 1000 * HOUR_SECONDS;
export const DAY_MS = 1000 * DAY_SECONDS;
