// The last five weeks of an instance's backups: a dot for each day, with what became of it, and one for the next backup.
import Box from "@cloudscape-design/components/box";
import { useEffect } from "react";
import { useLocation } from "react-router";
import type { Backup } from "../../../shared/api/backups.ts";
import { Failure } from "../app/failure.tsx";
import { Link } from "../app/link.tsx";
import { backups } from "../app/queries.ts";
import { locale } from "../messages/language.ts";
import { text } from "../messages/text.ts";
import { dayIn, formatTime, useZone } from "../resource/words/moment.ts";
import { shownOf } from "../resource/words/status.tsx";
import { usePages } from "../resource/page/use-pages.ts";
import { serviceNow } from "../session/clock.ts";
import { dayOf, nightOf } from "./night.ts";
import { Legend } from "./legend.tsx";
import { Sign } from "./sign.tsx";
import { backupInWords } from "./words.ts";

const DAYS = 35;

interface Props {
  instanceId: string;
  /** The time at which the next scheduled backup is due. */
  nextAt: string | null;
}

export function BackupStrip({ instanceId, nextAt }: Props) {
  const say = text.backups.strip;
  useZone(); // a day begins when it begins there
  const today = dayIn(serviceNow());
  const days = Array.from(
    { length: DAYS },
    (_, n) => new Date(today.getFullYear(), today.getMonth(), today.getDate() - DAYS + 1 + n),
  );
  const { items, isWhole, error, retry } = useMadeSince(instanceId, days[0] ?? today);
  const byDay = Map.groupBy(items, ({ created_at }) => dayOf(dayIn(created_at)));
  return (
    <div>
      <Box variant="awsui-key-label">{say.title}</Box>
      {error !== null && <Failure error={error} retry={retry} />}
      <ol className="strip" aria-label={say.title} aria-busy={!isWhole}>
        {days.map((day) => (
          <Day key={day.getTime()} day={day} backups={byDay.get(dayOf(day)) ?? []} isWhole={isWhole} />
        ))}
        {nextAt !== null && (
          <li className="due" title={say.due(formatTime(nextAt))}>
            <Sign of="due" />
            <span className="unseen">{say.due(formatTime(nextAt))}</span>
          </li>
        )}
      </ol>
      <Legend kinds={isWhole ? KINDS : [...KINDS, "unknown"]} />
    </div>
  );
}

/** The backups since a day, and those of the day before, which ends later in the user's time zone. */
function useMadeSince(instanceId: string, day: Date) {
  const { items, complete, pending, error, more, retry } = usePages(backups.listOf(instanceId), {
    created_after: new Date(Date.UTC(day.getFullYear(), day.getMonth(), day.getDate() - 1)).toISOString(),
  });
  useEffect(() => {
    if (!complete && !pending && error === null) more();
  }, [complete, pending, error, more]);
  return { items, isWhole: complete, error, retry };
}

interface DayProps {
  day: Date;
  backups: readonly Backup[];
  /** Whether all backups are loaded: until then, a day without one may have some. */
  isWhole: boolean;
}

function Day({ day, backups, isWhole }: DayProps) {
  const { pathname, search } = useLocation();
  const { kind, backup } = nightOf(backups);
  const date = day.toLocaleDateString(locale, { weekday: "short", day: "numeric", month: "short" });
  const say = text.backups.strip;
  if (backup === undefined) {
    const none = isWhole ? "none" : "unknown";
    return (
      <li className={isWhole ? undefined : none} title={say[none](date)}>
        <Sign of={none} />
        <span className="unseen">{say[none](date)}</span>
      </li>
    );
  }
  const words = say.day(date, backups.length, backupInWords(backup, shownOf("backup", backup.status).word));
  const details = new URLSearchParams(search);
  details.set("backup", backup.id);
  return (
    <li className={kind} title={words}>
      <Link to={`${pathname}?${details.toString()}`}>
        <Sign of={kind} />
        <span className="unseen">{words}</span>
      </Link>
    </li>
  );
}

const KINDS = ["completed", "drillFailed", "failed", "running", "none", "due"] as const;
