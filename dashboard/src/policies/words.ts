// Backup policies in words: when they run, and what they keep.
import type { BackupPolicy } from "../../../shared/api/backup-policy.ts";
import { KEEP_RULES } from "../../../shared/domain/retention.ts";

type Keep = BackupPolicy["keep"];

const UNITS = { hourly: "hour", daily: "day", weekly: "week", monthly: "month", yearly: "year" } as const;

export const FOUR_A_DAY = "0 */6 * * *";
const DAILY = /^(\d{1,2}) (\d{1,2}) \* \* \*$/;

/** The time of day of a schedule that runs once a day, as "02:00". */
export function timeOfDay(schedule: string): string | undefined {
  const [, minute, hour] = DAILY.exec(schedule) ?? [];
  return minute === undefined || hour === undefined ? undefined : `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
}

export function scheduleInWords({ schedule, timezone }: Pick<BackupPolicy, "schedule" | "timezone">): string {
  const time = timeOfDay(schedule);
  const when =
    time !== undefined
      ? `Every day at ${time}`
      : schedule === FOUR_A_DAY
        ? "Four times a day, from midnight"
        : `By the cron expression ${schedule}`;
  return `${when} (${timezone})`;
}

/** "The 3 newest backups, and the newest of each of the last 7 days and 4 weeks". */
export function keepInWords(keep: Keep): string {
  const periods = KEEP_RULES.flatMap((rule) => {
    const count = keep[rule] ?? 0;
    return rule === "last" || count === 0 ? [] : [`${count} ${UNITS[rule]}${count === 1 ? "" : "s"}`];
  });
  const { last = 0 } = keep;
  const newest = last === 0 ? undefined : last === 1 ? "the newest backup" : `the ${last} newest backups`;
  const each = periods.length === 0 ? undefined : `the newest of each of the last ${listed(periods)}`;
  const words = [newest, each].filter((part) => part !== undefined).join(", and ");
  return words === "" ? "Nothing" : `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

const listed = (words: readonly string[]): string => new Intl.ListFormat("en").format(words);
