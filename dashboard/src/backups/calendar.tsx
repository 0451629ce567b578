// A month of an instance's backups: each day has its backups, with their kind and the result of their drill.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useEffect, useState } from "react";
import { useLocation } from "react-router";
import type { Backup } from "../../../shared/api/backups.ts";
import { Failure } from "../app/failure.tsx";
import { backups } from "../app/queries.ts";
import { Link } from "../app/link.tsx";
import { locale } from "../messages/language.ts";
import { text } from "../messages/text.ts";
import { dayIn, inShort, useZone } from "../resource/moment.ts";
import { shownOf } from "../resource/status.tsx";
import { usePages } from "../resource/use-pages.ts";
import { serviceNow } from "../session/clock.ts";
import { dayOf, type Month, monthOf, weeksOf } from "./month.ts";
import { backupInWords, signOf, signs } from "./words.ts";

interface Props {
  instanceId: string;
  /** When the next scheduled backup is due. */
  nextAt: string | null;
}

export function BackupCalendar({ instanceId, nextAt }: Props) {
  const [months, setMonths] = useState(0); // from the present one
  useZone(); // a day begins when it begins there
  const now = dayIn(serviceNow());
  return (
    <Container header={<Head months={months} onChange={setMonths} />}>
      <Shown key={months} instanceId={instanceId} month={monthOf(now, months)} now={now} nextAt={nextAt} />
      <Legend />
    </Container>
  );
}

interface ShownProps extends Props {
  month: Month;
  now: Date;
}

function Shown({ instanceId, month, now, nextAt }: ShownProps) {
  const say = text.backups.calendar;
  const { items, whole, error, retry } = useMonth(instanceId, month);
  return (
    <>
      {error !== null && <Failure error={error} retry={retry} />}
      <table className="calendar" aria-busy={!whole}>
        <caption>
          <Box variant="strong">
            <span aria-live="polite">{say.month(month.from.toLocaleDateString(locale, { month: "long", year: "numeric" }))}</span>
          </Box>
          {!whole && error === null && ` ${say.loading}`}
        </caption>
        <thead>
          <tr>
            {weeksOf(month)[0]?.map((day) => (
              <th key={day.getDay()} scope="col">
                <abbr title={day.toLocaleDateString(locale, { weekday: "long" })}>
                  {day.toLocaleDateString(locale, { weekday: "short" }).slice(0, 2)}
                </abbr>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(month).map((week) => (
            <tr key={week[0]?.toDateString()}>
              {week.map((day) => (
                <Day
                  key={day.toDateString()}
                  day={day}
                  outside={day < month.from || day >= month.until}
                  today={dayOf(day) === dayOf(now)}
                  made={items.filter(({ created_at }) => dayOf(dayIn(created_at)) === dayOf(day))}
                  nextAt={nextAt !== null && dayOf(dayIn(nextAt)) === dayOf(day) ? nextAt : null}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** The backups of a month, and of a day before and after it: its first and last day are those of the user's time zone. */
function useMonth(instanceId: string, { from, until }: Month) {
  const { items, complete, pending, error, more, retry } = usePages(backups.listOf(instanceId), {
    created_after: dayBeside(from, -1),
    created_before: dayBeside(until, 1),
  });
  useEffect(() => {
    if (!complete && !pending && error === null) more();
  }, [complete, pending, error, more]);
  return { items, whole: complete, error, retry };
}

/** The start of the day, in UTC, that is some days after a date. */
const dayBeside = (date: Date, days: number): string =>
  new Date(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate() + days)).toISOString();

const Head = ({ months, onChange }: { months: number; onChange: (months: number) => void }) => (
  <Header
    variant="h2"
    actions={
      <SpaceBetween direction="horizontal" size="xs">
        <Button
          variant="icon"
          iconName="angle-left"
          ariaLabel={text.backups.calendar.previous}
          onClick={() => onChange(months - 1)}
        />
        <Button
          variant="icon"
          iconName="angle-right"
          ariaLabel={text.backups.calendar.next}
          disabled={months > 0} // where the next backup may be due
          onClick={() => onChange(months + 1)}
        />
      </SpaceBetween>
    }
  >
    {text.backups.calendar.title}
  </Header>
);

const Legend = () => (
  <Box variant="small">
    <ul className="legend">
      {signs().map(([sign, meaning]) => (
        <li key={sign}>
          <b>{sign}</b> {meaning}
        </li>
      ))}
    </ul>
  </Box>
);

interface DayProps {
  day: Date;
  outside: boolean;
  today: boolean;
  made: readonly Backup[];
  nextAt: string | null;
}

/** As many as fit; the list below has all. */
const SHOWN_MAX = 4;

function Day({ day, outside, today, made, nextAt }: DayProps) {
  const say = text.backups.calendar;
  if (outside) return <td className="outside" />;
  const left = made.length - SHOWN_MAX;
  return (
    <td {...(today && { "aria-current": "date" })}>
      <span className="day">{day.getDate()}</span>
      <ul>
        {made.slice(0, SHOWN_MAX).map((backup) => (
          <li key={backup.id}>
            <Sign backup={backup} />
          </li>
        ))}
        {left > 0 && (
          <li>
            <span aria-hidden="true">+{left}</span>
            <span className="unseen">{say.more(left)}</span>
          </li>
        )}
        {nextAt !== null && (
          <li>
            <span aria-hidden="true">{NEXT}</span>
            <span className="unseen">{say.due(inShort(nextAt))}</span>
          </li>
        )}
      </ul>
    </td>
  );
}
const NEXT = "○";

function Sign({ backup }: { backup: Backup }) {
  const { pathname, search } = useLocation();
  const details = new URLSearchParams(search);
  details.set("backup", backup.id);
  return (
    <Link to={`${pathname}?${details.toString()}`}>
      <span aria-hidden="true">{signOf(backup)}</span>
      <span className="unseen">{backupInWords(backup, shownOf("backup", backup.status).word)}</span>
    </Link>
  );
}
