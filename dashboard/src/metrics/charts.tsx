// The charts of a server or an instance, of a time that the user chooses, with what was done meanwhile.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Metrics } from "../../../shared/api/metrics.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import type { Operation } from "../../../shared/api/operations.ts";
import type { Server } from "../../../shared/api/servers.ts";
import { Failure } from "../app/failure.tsx";
import { Link } from "../app/link.tsx";
import { instances, operations, servers } from "../app/queries.ts";
import type { Messages } from "../messages/en/index.ts";
import { text } from "../messages/text.ts";
import { workOf } from "../operations/words.ts";
import { Deferred } from "../resource/deferred.tsx";
import { inDays, inShort, useZone } from "../resource/moment.ts";
import { serviceNow } from "../session/clock.ts";
import { Chart, type Mark } from "./chart.tsx";
import { fullAt } from "./forecast.ts";

type Kind = keyof Messages["metrics"]["charts"];

interface Shown {
  kind: Kind;
  series: readonly string[];
  peaks?: true;
}

const OF_SERVER: readonly Shown[] = [
  { kind: "cpu", series: ["cpu_percent"], peaks: true },
  { kind: "memory", series: ["memory_used_bytes", "swap_used_bytes"] },
  { kind: "disk", series: ["disk_used_bytes"] },
  { kind: "diskFlow", series: ["disk_read_bytes", "disk_write_bytes"] },
  { kind: "network", series: ["network_in_bytes", "network_out_bytes"] },
  { kind: "load", series: ["load"] },
];

const OF_INSTANCE: readonly Shown[] = [
  { kind: "times", series: ["p50_ms", "p95_ms"] },
  { kind: "requests", series: ["requests", "errors_5xx"] },
  { kind: "cpu", series: ["erp_cpu_percent", "database_cpu_percent"] },
  { kind: "memory", series: ["erp_memory_bytes", "database_memory_bytes"] },
  { kind: "network", series: ["network_in_bytes", "network_out_bytes"] },
  { kind: "connections", series: ["database_connections"] },
  { kind: "sizes", series: ["database_bytes", "filestore_bytes"] },
  { kind: "delays", series: ["cron_overdue_seconds", "longest_transaction_seconds"] },
];

const HOUR_S = 3600;
/** With at most 300 points each. */
const PERIODS = [
  { id: "hours", seconds: 3 * HOUR_S, step: 60 },
  { id: "day", seconds: 24 * HOUR_S, step: 600 },
  { id: "week", seconds: 7 * 24 * HOUR_S, step: HOUR_S },
  { id: "quarter", seconds: 90 * 24 * HOUR_S, step: 24 * HOUR_S },
] as const;
type Period = (typeof PERIODS)[number];
const [LATELY, , , QUARTER] = PERIODS;

/** The parameters of a period that ends now, the same for a minute. */
function asked({ seconds, step }: Period): { from: string; step: number } {
  const now = Math.floor(serviceNow() / 60_000) * 60_000;
  return { from: new Date(now - seconds * 1000).toISOString(), step };
}

export function ServerMetrics({ server }: { server: Pick<Server, "id" | "disk_size_bytes"> }) {
  return (
    <SpaceBetween size="l">
      <Charts of={server} shown={OF_SERVER} question={(query) => servers.metrics(server.id, query)} />
      <Deferred>
        <DiskInAQuarter server={server} />
      </Deferred>
    </SpaceBetween>
  );
}

export const InstanceMetrics = ({ instance }: { instance: Pick<Instance, "id"> }) => (
  <Charts of={instance} shown={OF_INSTANCE} question={(query) => instances.metrics(instance.id, query)} />
);

interface Props {
  of: { id: string };
  shown: readonly Shown[];
  question: (query: { from: string; step: number }) => ReturnType<typeof servers.metrics>;
}

function Charts({ of, shown, question }: Props) {
  const say = text.metrics;
  useZone();
  const [period, setPeriod] = useState<Period>(LATELY);
  const [query, setQuery] = useState(() => asked(LATELY));
  const choose = (next: Period): void => {
    setPeriod(next);
    setQuery(asked(next));
  };
  const { data, error, isFetching, refetch } = useQuery(question(query));
  const done = useQuery(operations.list({ resource_id: of.id, created_after: query.from, per_page: 100 }));
  const marks = marksIn(done.data?.data ?? []);
  const options = PERIODS.map(({ id }) => ({ value: id, label: say.periods[id] }));
  return (
    <SpaceBetween size="l">
      <SpaceBetween direction="horizontal" size="xs">
        <Select
          ariaLabel={say.period}
          options={options}
          selectedOption={options.find(({ value }) => value === period.id) ?? null}
          onChange={({ detail }) => choose(PERIODS.find(({ id }) => id === detail.selectedOption.value) ?? period)}
        />
        <Button iconName="refresh" loading={isFetching} onClick={() => choose(period)}>
          {say.refresh}
        </Button>
      </SpaceBetween>
      {error !== null && !isFetching && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <Spinner size="large" />
      ) : (
        <ColumnLayout columns={2} minColumnWidth={320}>
          {shown.map(({ kind, series, peaks = false }) => (
            <Chart
              key={kind}
              title={say.charts[kind]}
              metrics={data.data}
              lines={linesOf(data.data, series)}
              peaks={peaks}
              marks={marks.slice(0, MARKS_MAX)}
            />
          ))}
        </ColumnLayout>
      )}
      {marks.length > 0 && <Marks marks={marks} />}
    </SpaceBetween>
  );
}

const linesOf = ({ series }: Metrics, names: readonly string[]) =>
  names.flatMap((name) => series.find((each) => each.name === name) ?? []);

/** What may explain a change of the figures. */
const MARKED: readonly string[] = ["instance.deploy", "instance.restart", "instance.start", "instance.stop", "backup.restore"];
/** More lines across a chart hide it; the list has all. */
const MARKS_MAX = 10;

const marksIn = (all: readonly Operation[]): Mark[] =>
  all
    .filter(({ type }) => MARKED.includes(type))
    .map(({ id, type, created_at }) => ({ id, at: created_at, title: `${workOf(type).name}, ${inShort(created_at)}` }));

const Marks = ({ marks }: { marks: readonly Mark[] }) => (
  <div>
    <Box variant="h3">{text.metrics.marks}</Box>
    <ul>
      {marks.map(({ id, title }) => (
        <li key={id}>
          <Link to={`/operations/${id}`}>{title}</Link>
        </li>
      ))}
    </ul>
  </div>
);

function DiskInAQuarter({ server: { id, disk_size_bytes: size } }: { server: Pick<Server, "id" | "disk_size_bytes"> }) {
  const say = text.metrics.quarter;
  const [query] = useState(() => ({ ...asked(QUARTER), series: "disk_used_bytes" }));
  const { data } = useQuery(servers.metrics(id, query));
  const lines = data === undefined ? [] : linesOf(data.data, ["disk_used_bytes"]);
  if (data === undefined || size === null) return null;
  const full = fullAt(lines[0]?.values ?? [], { from: data.data.from, size });
  return (
    <Chart
      title={say.title}
      description={full === undefined ? say.notFull : say.full(inDays(full))}
      metrics={data.data}
      lines={lines}
      limit={{ title: say.size, value: size }}
    />
  );
}
