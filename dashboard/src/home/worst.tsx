// The servers and instances that are loaded most, each chart with the worst first, and a list that leads to them.
import BarChart from "@cloudscape-design/components/bar-chart";
import Box from "@cloudscape-design/components/box";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { Failure } from "../app/failure.tsx";
import { Link } from "../app/link.tsx";
import { worst } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { metricInWords } from "../metrics/words.ts";
import { Section } from "../resource/page/section.tsx";

export function Worst() {
  const say = text.home.worst;
  const { data, error, refetch } = useQuery(worst());
  const rankings = data?.data;
  return (
    <Section title={say.title} description={rankings?.complete === false ? say.partly : say.about}>
      {rankings === undefined ? (
        error === null ? (
          <Spinner />
        ) : (
          <Failure error={error} retry={() => void refetch()} />
        )
      ) : (
        <ColumnLayout columns={3} minColumnWidth={260}>
          <Ranking title={say.memory} path="/servers" of={rankings.memory} unit="percent" />
          <Ranking title={say.disk} path="/servers" of={rankings.disk} unit="percent" />
          <Ranking title={say.times} path="/instances" of={rankings.p95_ms} unit="milliseconds" />
        </ColumnLayout>
      )}
    </Section>
  );
}

interface RankingProps {
  title: string;
  path: string;
  of: readonly { id: string; name: string; value: number }[];
  unit: "percent" | "milliseconds";
}

const HEIGHT = 260;
/** Longer names are cut at the axis: a chart may be as narrow as a third of the page. */
const NAME_CHARACTERS = 16;
const shortened = (name: string): string => (name.length > NAME_CHARACTERS ? `${name.slice(0, NAME_CHARACTERS - 1)}…` : name);

/** The axis ends at 100 for percent, otherwise at the highest value. */
function Ranking({ title, path, of: ranked, unit }: RankingProps) {
  const say = text.home.worst;
  const names = new Map(ranked.map(({ id, name }) => [id, name]));
  const nameOf = (id: string): string => names.get(id) ?? id;
  const linkTo = (id: string) => <Link to={`${path}/${id}?tab=metrics`}>{nameOf(id)}</Link>;
  const axisEnd = unit === "percent" ? 100 : Math.max(1, ...ranked.map(({ value }) => value));
  const bars = { type: "bar" as const, title, data: ranked.map(({ id, value }) => ({ x: id, y: value })) };
  return (
    <div>
      <Box variant="h3">{title}</Box>
      <BarChart
        series={ranked.length === 0 ? [] : [{ ...bars, valueFormatter: say[unit] }]}
        ariaLabel={title}
        height={HEIGHT}
        hideFilter
        hideLegend
        horizontalBars
        xScaleType="categorical"
        xDomain={[...names.keys()]}
        yDomain={[0, axisEnd]}
        i18nStrings={{ xTickFormatter: (id) => shortened(nameOf(id)), yTickFormatter: (value) => metricInWords(value, unit) }}
        detailPopoverSeriesContent={({ x, y }) => ({ key: linkTo(x), value: say[unit](y) })}
        empty={<Box color="text-status-inactive">{say.none}</Box>}
      />
      <ol className="plain">
        {ranked.map(({ id, value }) => (
          <li key={id}>
            {linkTo(id)} <Box variant="small">{say[unit](value)}</Box>
          </li>
        ))}
      </ol>
    </div>
  );
}
