// A chart of some series over time. The design system's own: it can be used by keyboard and with a screen reader.
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import LineChart, { type LineChartProps } from "@cloudscape-design/components/line-chart";
import type { Metrics } from "../../../shared/api/metrics.ts";
import { text } from "../messages/text.ts";
import { inFull, inTicks } from "../resource/moment.ts";
import { partsOf } from "./gaps.ts";
import { figureInWords, seriesInWords } from "./words.ts";

type Line = Metrics["series"][number];
type Lines = Extract<LineChartProps<Date>["series"][number], { type: "line" }>;
type Threshold = Extract<LineChartProps<Date>["series"][number], { type: "threshold" }>;

/** Something that happened at a time, which may explain what is seen. */
export interface Mark {
  id: string;
  title: string;
  at: string;
}

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

export function Chart({ title, description, metrics: { from, step }, lines, peaks = false, marks = [], limit }: Props) {
  const start = Date.parse(from);
  const at = (index: number): Date => new Date(start + index * step * 1000);
  const [first] = lines;
  const unit = first?.unit ?? "count";
  const words = (value: number): string => figureInWords(value, unit);
  const named = lines.flatMap(({ name, values, maxima }) => {
    const called = seriesInWords(name);
    return [
      { called, values },
      ...(peaks && maxima !== undefined ? [{ called: text.metrics.highest(called), values: maxima }] : []),
    ];
  });
  const shown = named.flatMap(({ called, values }, index): Lines[] => {
    const points = values.flatMap((y, place) => (y === null ? [] : [{ x: at(place), y }]));
    const series = { type: "line", title: called, color: colorOf(index), valueFormatter: words } as const;
    return partsOf(points, step).map((data) => ({ ...series, data }));
  });
  // The chart's own legend would name each part.
  const hasGaps = shown.length > named.length;
  const thresholds: Threshold[] = [
    ...(limit === undefined ? [] : [{ type: "threshold", title: limit.title, y: limit.value, valueFormatter: words } as const]),
    ...marks.map((mark) => ({ type: "threshold", title: mark.title, x: new Date(mark.at) }) as const),
  ];
  const end = at(first?.values.length ?? 1);
  const most = Math.max(limit?.value ?? 0, ...shown.flatMap(({ data }) => data.map(({ y }) => y)));
  const isEmpty = shown.every(({ data }) => data.length === 0);
  return (
    <Container
      header={
        <Header variant="h2" {...(description !== undefined && { description })}>
          {title}
        </Header>
      }
    >
      <LineChart
        series={isEmpty ? [] : [...shown, ...thresholds]}
        ariaLabel={title}
        height={HEIGHT}
        hideFilter
        hideLegend={hasGaps}
        xScaleType="time"
        xDomain={[at(0), end]}
        yDomain={[0, most === 0 ? 1 : most * 1.05]}
        i18nStrings={{ xTickFormatter: (x) => inTicks(x, step), yTickFormatter: words }}
        detailPopoverFooter={(x) => <Box variant="small">{inFull(x.toISOString())}</Box>}
        empty={<Box color="text-status-inactive">{text.metrics.none}</Box>}
      />
      {hasGaps && <Legend names={named.map(({ called }) => called)} thresholds={thresholds.map((each) => each.title)} />}
    </Container>
  );
}

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
