// Backup policies in words: when they run, and what they keep.
import type { BackupPolicy } from "../../../shared/api/policy-shown.ts";
import { listDays } from "../../../shared/domain/cron-days.ts";
import { KEEP_RULES } from "../../../shared/domain/retention.ts";
import { text } from "../messages/text.ts";

export const FOUR_A_DAY = "0 */6 * * *";
const DAILY = /^(\d{1,2}) (\d{1,2}) \* \* \*$/;

/** The time of day of a schedule that runs once a day, as "02:00". */
export function timeOfDay(schedule: string): string | undefined {
  const [, minute, hour] = DAILY.exec(schedule) ?? [];
  return minute === undefined || hour === undefined ? undefined : `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
}

export function scheduleInWords({ schedule, timezone }: Pick<BackupPolicy, "schedule" | "timezone">): string {
  const say = text.policies.schedule;
  const time = timeOfDay(schedule);
  if (time !== undefined) return say.daily(time, timezone);
  return schedule === FOUR_A_DAY ? say.four(timezone) : say.cron(schedule, timezone, listDays(schedule));
}

export function keepInWords(keep: BackupPolicy["keep"]): string {
  const periods = KEEP_RULES.flatMap((unit) => {
    const count = keep[unit] ?? 0;
    return unit === "last" || count === 0 ? [] : [{ unit, count }];
  });
  return text.policies.keeps(keep.last ?? 0, periods);
}

export const drillsInWords = (days: number | null): string => text.policies.drills(days);
