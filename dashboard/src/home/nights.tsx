// The backups of the last nights: a row for each instance, those with trouble first, and a cell for each day.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { DAY_MS } from "../../../shared/domain/durations.ts";
import { NIGHTS_BACKUPS_MAX } from "../../../shared/domain/limits.ts";
import { Failure } from "../app/failure.tsx";
import { Link } from "../app/link.tsx";
import { type NightBackup, nights } from "../app/queries.ts";
import { DrillStatus } from "../backups/drill-status.tsx";
import { Legend } from "../backups/legend.tsx";
import { dayOf, type Night } from "../backups/night.ts";
import { Sign } from "../backups/sign.tsx";
import { backupInWords } from "../backups/words.ts";
import { locale } from "../messages/language.ts";
import { text } from "../messages/text.ts";
import { dayIn, useZone } from "../resource/words/moment.ts";
import { formatCount } from "../resource/words/number.ts";
import { sizeInWords } from "../resource/words/size.ts";
import { shownOf } from "../resource/words/status.tsx";
import { Time } from "../resource/words/time.tsx";
import { Updated } from "../resource/list/updated.tsx";
import { Section } from "../resource/page/section.tsx";
import { serviceNow } from "../session/clock.ts";
import { type Row, buildNightRows } from "./night-rows.ts";

interface Props {
  /** Whether backups of an instance are overdue. */
  isAnyOverdue: boolean;
  onClose: () => void;
}

const DAYS = 7;
/** The rows with trouble are the first. */
const ROWS = 20;
const KINDS = ["completed", "drillFailed", "failed", "running", "none"] as const;

export function Nights({ isAnyOverdue, onClose }: Props) {
  const say = text.home.nights;
  const [all, setAll] = useState(false);
  useZone(); // a day begins when it begins there
  const today = dayIn(serviceNow());
  const days = Array.from({ length: DAYS }, (_, n) => new Date(today.getFullYear(), today.getMonth(), today.getDate() - n));
  // A day more: the first of them is one of the user's time zone.
  const since = new Date(Math.floor(serviceNow() / DAY_MS - DAYS) * DAY_MS).toISOString();
  const { data, error, dataUpdatedAt, isFetching, refetch } = useQuery(nights(since, isAnyOverdue));
  const rows = data && buildNightRows(data, days.map(dayOf), ({ created_at }) => dayOf(dayIn(created_at)));
  return (
    <Section
      title={say.title}
      description={
        <>
          {data?.isWhole === false ? say.partly(formatCount(NIGHTS_BACKUPS_MAX)) : say.about}
          {data?.isOverdueWhole === false && ` ${say.someOverdue(formatCount(data.overdue.length))}`}
        </>
      }
      actions={
        <SpaceBetween direction="horizontal" size="xs" alignItems="center">
          <Updated at={dataUpdatedAt} onlyIfOld />
          <Button
            variant="icon"
            iconName="refresh"
            ariaLabel={text.resource.list.refresh(say.title)}
            loading={isFetching}
            onClick={() => void refetch()}
          />
          <Button variant="icon" iconName="close" ariaLabel={say.close} onClick={onClose} />
        </SpaceBetween>
      }
    >
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {rows === undefined ? (
        error === null && <Spinner />
      ) : (
        <SpaceBetween size="s">
          <div className="nights-box">
            <Shown rows={all ? rows : rows.slice(0, ROWS)} days={days} isWhole={data?.isWhole !== false} />
          </div>
          <Legend kinds={data?.isWhole === false ? [...KINDS, "unknown"] : KINDS} />
          {!all && rows.length > ROWS && <Button onClick={() => setAll(true)}>{say.all(rows.length)}</Button>}
        </SpaceBetween>
      )}
    </Section>
  );
}

interface ShownProps {
  rows: readonly Row<NightBackup>[];
  days: readonly Date[];
  /** Whether all backups of these days are known. */
  isWhole: boolean;
}

function Shown({ rows, days, isWhole }: ShownProps) {
  const say = text.home.nights;
  const notThen = isWhole ? say.noneLately : say.unknown;
  return (
    <table className="nights">
      <caption className="unseen">{say.title}</caption>
      <thead>
        <tr>
          <th scope="col">{say.instance}</th>
          {days.map((day) => (
            <th key={dayOf(day)} scope="col">
              {day.toLocaleDateString(locale, { weekday: "short", day: "numeric" })}
            </th>
          ))}
          <th scope="col">{say.last}</th>
          <th scope="col">{say.drill}</th>
          <th scope="col">{say.size}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, name, isOverdue, cells, last, lastAt, drilled }) => (
          <tr key={id}>
            <th scope="row">
              <Link to={`/instances/${id}`}>{name}</Link>
            </th>
            {cells.map((cell, n) => (
              <Cell key={days[n]?.getTime()} night={cell} />
            ))}
            <td>
              <Box color={isOverdue ? "text-status-error" : "inherit"}>
                <Time at={lastAt ?? null} none={lastAt === null ? say.none : notThen} />
              </Box>
            </td>
            <td>
              <DrillStatus drill={drilled?.drill ?? null} />
            </td>
            <td>{sizeInWords(last?.size_bytes ?? null)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell({ night: { kind, backup } }: { night: Night<NightBackup> }) {
  const say = text.home.nights;
  const words = backup === undefined ? (kind === "unknown" ? say.unknown : say.none) : inWords(backup);
  return (
    <td className={kind} title={words}>
      {backup === undefined ? (
        <Box variant="span" color="inherit">
          <Sign of={kind} />
          <span className="unseen">{words}</span>
        </Box>
      ) : (
        <Link to={`/backups?backup=${backup.id}`}>
          <Sign of={kind} />
          <span className="unseen">{words}</span>
        </Link>
      )}
    </td>
  );
}

const inWords = (backup: NightBackup): string => backupInWords(backup, shownOf("backup", backup.status).word);
