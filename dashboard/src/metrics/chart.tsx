// A chart of some series over time. The design system's own: it can be used by keyboard and with a screen reader.
import Box from "@cloudscape-design/components/box";
import LineChart, { type LineChartProps } from "@cloudscape-design/components/line-chart";
import type { Metrics } from "../../../shared/api/metrics.ts";
import { text } from "../messages/text.ts";
import { Section } from "../resource/page/section.tsx";
import { formatFullTime, formatTime, formatTick } from "../resource/words/moment.ts";
import { splitAtGaps } from "./gaps.ts";
import { groupMarks, type Mark } from "./mark-lines.ts";
import { metricInWords, seriesInWords } from "./words.ts";

type Line = Metrics["series"][number];
type Lines = Extract<LineChartProps<Date>["series"][number], { type: "line" }>;
type Threshold = Extract<LineChartProps<Date>["series"][number], { type: "threshold" }>;

/** What of the figures cannot be more, such as the size of a disk. */
interface Limit {
  title: string;
  value: number;
}

interface Props {
  title: string;
  description?: string | undefined;
  metrics: Pick<Metrics, "from" | "step">;
  lines: readonly Line[];
  /** Whether the highest minute of each step is shown, too. */
  peaks?: boolean;
  marks?: readonly Mark[];
  limit?: Limit | undefined;
}

const HEIGHT = 200;
/** More marks are one entry of the legend; the list below the charts has all. */
const NAMED_MAX = 10;
/** What one line has in its title; beyond that, it counts. */
const TITLES_MAX = 3;

export function Chart({ title, description, metrics: { from, step }, lines, peaks = false, marks = [], limit }: Props) {
  const start = Date.parse(from);
  const at = (index: number): Date => new Date(start + index * step * 1000);
  const [first] = lines;
  const unit = first?.unit ?? "count";
  const words = (value: number): string => metricInWords(value, unit);
  const namedLines = lines.flatMap(({ name, values, maxima }) => {
    const called = seriesInWords(name);
    return [
      { called, values },
      ...(peaks && maxima !== undefined ? [{ called: text.metrics.highest(called), values: maxima }] : []),
    ];
  });
  const drawn = namedLines.flatMap(({ called, values }, index): Lines[] => {
    const points = values.flatMap((y, step) => (y === null ? [] : [{ x: at(step), y }]));
    const series = { type: "line", title: called, color: colorOf(index), valueFormatter: words } as const;
    return splitAtGaps(points, step).map((data) => ({ ...series, data }));
  });
  const end = at(first?.values.length ?? 1);
  const limits = limit === undefined ? [] : [limitLine(limit, words)];
  const marked = markLines(marks, { from: at(0), to: end });
  const thresholds = [...limits, ...marked];
  const most = Math.max(limit?.value ?? 0, ...drawn.flatMap(({ data }) => data.map(({ y }) => y)));
  // The chart's own legend would name each part of a line that has gaps, and each of many marks.
  const hasOwnLegend = drawn.length > namedLines.length || marked.length > NAMED_MAX;
  const isEmpty = drawn.every(({ data }) => data.length === 0);
  return (
    <Section title={title} description={description}>
      <LineChart
        series={isEmpty ? [] : [...drawn, ...thresholds]}
        ariaLabel={title}
        height={HEIGHT}
        hideFilter
        hideLegend={hasOwnLegend}
        xScaleType="time"
        xDomain={[at(0), end]}
        yDomain={[0, most === 0 ? 1 : most * 1.05]}
        i18nStrings={{ xTickFormatter: (x) => formatTick(x, step), yTickFormatter: words }}
        detailPopoverFooter={(x) => <Box variant="small">{formatFullTime(x.toISOString())}</Box>}
        empty={<Box color="text-status-inactive">{text.metrics.none}</Box>}
      />
      {hasOwnLegend && (
        <Legend
          names={namedLines.map(({ called }) => called)}
          thresholds={[...limits, ...(marked.length > NAMED_MAX ? [{ title: text.metrics.marks }] : marked)].map(
            (each) => each.title,
          )}
        />
      )}
    </Section>
  );
}

const limitLine = ({ title, value }: Limit, words: (value: number) => string): Threshold => ({
  type: "threshold",
  title,
  y: value,
  valueFormatter: words,
});

const markLines = (marks: readonly Mark[], time: { from: Date; to: Date }): Threshold[] =>
  groupMarks(marks, time).map((group) => ({
    type: "threshold",
    title:
      group.length > TITLES_MAX
        ? text.metrics.several(group.length, formatTime(group[0].at))
        : group.map(({ title }) => title).join("; "),
    x: new Date(group[0].at),
  }));

const COLORS = 2;
/** All parts of a line have one. */
const colorOf = (index: number): string => `var(--line-${(index % COLORS) + 1})`;

const Legend = ({ names, thresholds }: { names: readonly string[]; thresholds: readonly string[] }) => (
  <ul className="chart-legend">
    {names.map((name, index) => (
      <li key={name}>
        <span style={{ borderColor: colorOf(index) }} />
        {name}
      </li>
    ))}
    {thresholds.map((name, index) => (
      <li key={index}>
        <span className="threshold" />
        {name}
      </li>
    ))}
  </ul>
);
