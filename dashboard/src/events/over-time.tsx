// The operations of a list on a time line: how many of each hour or day succeeded and failed.
import Box from "@cloudscape-design/components/box";
import BarChart from "@cloudscape-design/components/bar-chart";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import type { Operation } from "../../../shared/api/operations.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { Failure } from "../app/failure.tsx";
import { type ListQuery, operations } from "../app/queries.ts";
import { locale } from "../messages/language.ts";
import { text } from "../messages/text.ts";
import { Section } from "../resource/page/section.tsx";
import { dayIn, formatFullTime, formatTick, useZone } from "../resource/words/moment.ts";
import { formatCount } from "../resource/words/number.ts";
import { shownOf } from "../resource/words/status.tsx";
import { barsOf, type Step } from "./bars.ts";

const HEIGHT = 200;
/** A day in the browser's own time zone, whatever zone was chosen. */
const DAY = {
  tick: new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" }),
  full: new Intl.DateTimeFormat(locale, { dateStyle: "medium" }),
};

const STATUSES = ["succeeded", "failed", "running", "pending"] as const satisfies readonly Operation["status"][];

function spanInWords(step: Step, begin: string): string {
  if (step === "hour") return formatFullTime(begin);
  const day = DAY.full.format(new Date(begin));
  return step === "day" ? day : text.events.overTime.week(day);
}

export function OverTime({ query }: { query: ListQuery }) {
  const say = text.events.overTime;
  useZone(); // a day begins when it begins there
  const { data, error, refetch } = useQuery(operations.list({ ...query, page: 1, per_page: PER_PAGE_MAX }));
  if (data === undefined)
    return error === null ? <Spinner size="large" /> : <Failure error={error} retry={() => void refetch()} />;
  const { bars, step, placeOf } = barsOf(
    data.data.map(({ created_at }) => Date.parse(created_at)),
    dayIn,
  );
  const series = STATUSES.flatMap((status) => {
    const counts = Map.groupBy(
      data.data.filter((each) => each.status === status),
      ({ created_at }) => placeOf(Date.parse(created_at)),
    );
    if (counts.size === 0) return [];
    return {
      type: "bar" as const,
      title: shownOf("operation", status).word,
      ...(status === "failed" && { color: "#d91515" }),
      data: bars.map((x) => ({ x, y: counts.get(x)?.length ?? 0 })),
      valueFormatter: formatCount,
    };
  });
  return (
    <Section title={say.title} description={say.about}>
      <BarChart
        series={series}
        ariaLabel={say.title}
        height={HEIGHT}
        hideFilter
        stackedBars
        xScaleType="categorical"
        xDomain={bars}
        i18nStrings={{
          xTickFormatter: (x) => (step === "hour" ? formatTick(new Date(x), 1) : DAY.tick.format(new Date(x))),
          yTickFormatter: (y) => (Number.isInteger(y) ? formatCount(y) : ""),
        }}
        detailPopoverFooter={(x) => <Box variant="small">{spanInWords(step, x)}</Box>}
        empty={<Box color="text-status-inactive">{text.operations.empty}</Box>}
      />
    </Section>
  );
}
