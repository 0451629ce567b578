// A relative time; the exact one on hover, or always.
import { useSyncExternalStore } from "react";
import { locale } from "../../messages/language.ts";
import { text } from "../../messages/text.ts";
import { serviceNow } from "../../session/clock.ts";
import { formatFullTime, useZone } from "./moment.ts";
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from "../../../../shared/domain/durations.ts";

/** Each unit starts where it is exact enough to act on: 14 days are not "next week", and 40 hours not "1 day". */
const UNITS = [
  ["year", 31_536_000, 2 * 31_536_000],
  ["day", DAY_SECONDS, 2 * DAY_SECONDS],
  ["hour", HOUR_SECONDS, 2 * HOUR_SECONDS],
  ["minute", MINUTE_SECONDS, MINUTE_SECONDS],
] as const;

const relative = new Intl.RelativeTimeFormat(locale, { numeric: "always" });

export function Time({ at, exact = false, none = "–" }: { at: string | null; exact?: boolean; none?: string }) {
  const now = useSyncExternalStore(everyHalfMinute, currentHalfMinute);
  useZone(); // renders again when the user chooses another
  if (at === null) return none;
  const words = agoOf((Date.parse(at) - now) / 1000);
  return (
    <time dateTime={at} title={formatFullTime(at)}>
      {exact ? text.resource.time.exact(formatFullTime(at), words) : words}
    </time>
  );
}

/** Several, one below the other. */
export const Times = ({ times, none }: { times: readonly string[]; none: string }) =>
  times.length === 0
    ? none
    : times.map((at) => (
        <div key={at}>
          <Time at={at} exact />
        </div>
      ));

function agoOf(seconds: number): string {
  const [unit, length] = UNITS.find(([, , from]) => Math.abs(seconds) >= from) ?? [undefined, 1];
  return unit === undefined
    ? seconds > 20
      ? text.resource.time.soon
      : text.resource.time.now
    : relative.format(Math.round(seconds / length), unit);
}

const HALF_MINUTE = 30_000;
const currentHalfMinute = (): number => Math.ceil(serviceNow() / HALF_MINUTE) * HALF_MINUTE;

function everyHalfMinute(tick: () => void): () => void {
  const timer = setInterval(tick, HALF_MINUTE);
  return () => clearInterval(timer);
}
