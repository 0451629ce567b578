// Backup policies: their form, and what they do, in words.
import type { ReactNode } from "react";
import type { BackupPolicy } from "../../../../shared/api/policy-shown.ts";
import type { KeepRule } from "../../../../shared/domain/retention.ts";

/** How many of a unit of time each keep one backup, largest unit last. */
type Periods = readonly { unit: Exclude<KeepRule, "last">; count: number }[];

type Outcome = NonNullable<BackupPolicy["last_run"]>["status"];
const OUTCOMES: Record<Outcome, string | undefined> = {
  completed: "Completed",
  failed: "Failed",
  skipped: "Skipped",
};

/** The days on which a cron expression runs that restricts both the day of the month and the weekday. */
const DAYS = {
  one: "",
  both: ", on days that match both the day of the month and the weekday",
  either: ", on days that match the day of the month or the weekday",
};

const UNITS: Record<Periods[number]["unit"], string> = {
  hourly: "hour",
  daily: "day",
  weekly: "week",
  monthly: "month",
  yearly: "year",
};

export const policies = {
  protection: {
    title: "Protection",
    setUp: "Set up automatic backups",
    edit: "Edit policy",
    delete: "Delete policy",
    deleteTitle: (instance: string) => `Delete backup policy of ${instance}`,
    deleteAbout: "The instance will no longer be backed up automatically. Its backups are kept.",
    none: "This instance has no automatic backups. A backup policy takes backups on a schedule and removes old ones.",
    status: "Status",
    last: "Last backup",
    noLast: "None yet",
    next: "Next backup",
    noNext: "None scheduled",
    nextRuns: "After that",
    schedule: "Schedule",
    paused: (schedule: string) => `Paused. ${schedule}`,
    keeps: "Keeps",
    drills: "Restore drills",
    lastRun: "Last run",
    noLastRun: "None yet",
    run: (status: Outcome, at: ReactNode, reason: string | null) => (
      <>
        {OUTCOMES[status] ?? status}, due {at}
        {reason !== null && `: ${reason}`}
      </>
    ),
  },
  form: {
    title: (instance: string) => `Backup policy of ${instance}`,
    saved: (instance: string) => `Backup policy saved: ${instance}`,
    defaultTitle: "Default backup policy",
    defaultSaved: "Default backup policy saved",
    save: "Save policy",
    schedule: "Back up",
    presets: { daily: "Every day", four: "Four times a day: 00:00, 06:00, 12:00, 18:00", custom: "Custom" },
    time: "At",
    timeHint: "24-hour clock, such as 02:00. The backup starts within 15 minutes.",
    timeWrong: "Enter a time such as 02:00.",
    cron: "Cron expression",
    zone: "Time zone",
    keep: "Keep",
    keepAbout: (rules: string) => `${rules}.`,
    rules: {
      last: "Newest",
      hourly: "Hours",
      daily: "Days",
      weekly: "Weeks",
      monthly: "Months",
      yearly: "Years",
    } satisfies Record<KeepRule, string>,
    neverRemoved: "Locked backups, manual backups and the latest completed backup are never removed by a policy.",
    drills: "Restore drill every (days)",
    drillsAbout:
      "Restores the newest backup to a throwaway database and checks it. The instance isn't touched. " +
      "Each drill downloads the backup's whole archive to the server.",
    drillsHint: "1–90.",
    enabled: "Enabled",
  },
  schedule: {
    daily: (time: string, zone: string) => `Every day at ${time} (${zone})`,
    four: (zone: string) => `Four times a day, from midnight (${zone})`,
    cron: (expression: string, zone: string, days: keyof typeof DAYS) => `Cron expression ${expression} (${zone})${DAYS[days]}`,
  },
  /** "The 3 newest backups, and the newest of each of the last 7 days and 4 weeks". */
  keeps(last: number, periods: Periods): string {
    const newest = last === 0 ? [] : [last === 1 ? "the newest backup" : `the ${last} newest backups`];
    const units = periods.map(({ unit, count }) => `${count} ${UNITS[unit]}${count === 1 ? "" : "s"}`);
    const each = units.length === 0 ? [] : [`the newest of each of the last ${new Intl.ListFormat("en").format(units)}`];
    const words = [...newest, ...each].join(", and ");
    return words === "" ? "Nothing" : `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
  },
  drills: (days: number | null) => (days === null ? "None" : days === 1 ? "Every day" : `Every ${days} days`),
};
