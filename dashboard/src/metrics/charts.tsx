// The charts of a server or an instance, of a time that the user chooses, with what was done meanwhile.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { useQueries, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Metrics } from "../../../shared/api/metrics.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import type { Operation } from "../../../shared/api/operations.ts";
import type { Server } from "../../../shared/api/servers.ts";
import { Failure } from "../app/failure.tsx";
import { Link } from "../app/link.tsx";
import { instances, type ListQuery, operations, servers } from "../app/queries.ts";
import type { Messages } from "../messages/en/index.ts";
import { text } from "../messages/text.ts";
import { workOf } from "../operations/words.ts";
import { WhenInView } from "../resource/page/when-in-view.tsx";
import { formatDay, formatTime, useZone } from "../resource/words/moment.ts";
import { serviceNow } from "../session/clock.ts";
import { Chart } from "./chart.tsx";
import { DAYS_MIN, dayWhenFull } from "./forecast.ts";
import type { Mark } from "./mark-lines.ts";
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_MS } from "../../../shared/domain/durations.ts";

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

/** What the charts may show; each has at most 300 points. */
const PERIODS = [
  { id: "hours", seconds: 3 * HOUR_SECONDS, step: 60 },
  { id: "day", seconds: DAY_SECONDS, step: 600 },
  { id: "week", seconds: 7 * DAY_SECONDS, step: HOUR_SECONDS },
  { id: "quarter", seconds: 90 * DAY_SECONDS, step: DAY_SECONDS },
] as const;
type Period = (typeof PERIODS)[number];
const [LATELY, , , QUARTER] = PERIODS;

/** The parameters of a period that ends now, the same for a minute. */
function queryOf({ seconds, step }: Period): { from: string; step: number } {
  const now = Math.floor(serviceNow() / MINUTE_MS) * MINUTE_MS;
  return { from: new Date(now - seconds * 1000).toISOString(), step };
}

function useTime() {
  const [period, setPeriod] = useState<Period>(LATELY);
  const [query, setQuery] = useState(() => queryOf(LATELY));
  const choose = (next: Period): void => {
    setPeriod(next);
    setQuery(queryOf(next));
  };
  return { period, query, choose };
}

export function ServerMetrics({ server }: { server: Pick<Server, "id" | "disk_size_bytes"> }) {
  const time = useTime();
  const marks = useMarksOfServer(server.id, time.query.from);
  return (
    <SpaceBetween size="l">
      <Charts charts={OF_SERVER} question={servers.metrics(server.id, time.query)} time={time} marks={marks} />
      <WhenInView>
        <DiskInAQuarter server={server} />
      </WhenInView>
    </SpaceBetween>
  );
}

export function InstanceMetrics({ instance: { id } }: { instance: Pick<Instance, "id"> }) {
  const time = useTime();
  const marks = useMarksOfInstance(id, time.query.from);
  return <Charts charts={OF_INSTANCE} question={instances.metrics(id, time.query)} time={time} marks={marks} />;
}

interface Props {
  charts: readonly Shown[];
  question: ReturnType<typeof servers.metrics>;
  time: ReturnType<typeof useTime>;
  /** The newest first. */
  marks: readonly Mark[];
}

function Charts({ charts, question, time: { period, choose }, marks }: Props) {
  const say = text.metrics;
  useZone();
  const { data, error, isFetching, refetch } = useQuery(question);
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
          {charts.map(({ kind, series, peaks = false }) => (
            <Chart
              key={kind}
              title={say.charts[kind]}
              metrics={data.data}
              lines={linesOf(data.data, series)}
              peaks={peaks}
              marks={marks}
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
const MARKED: readonly string[] = ["instance.deploy", "instance.restart", "backup.restore"];
const MARKED_ON_INSTANCES: readonly string[] = [...MARKED, "instance.start", "instance.stop"];
const MARKED_OF_SERVERS: readonly string[] = ["server.reboot", "server.update"];

/** The newest 100 of each type, the newest first: with all types in one list, daily backups would leave no room for the rest. */
const useDone = (query: ListQuery, enabled = true): Operation[] =>
  useQueries({ queries: MARKED.map((type) => ({ ...operations.list({ ...query, type, per_page: 100 }), enabled })) })
    .flatMap(({ data }) => data?.data ?? [])
    .toSorted((one, other) => other.created_at.localeCompare(one.created_at));

/** Fetches an instance's operations in one request, unless there were more than it lists. */
function useMarksOfInstance(id: string, since: string): Mark[] {
  const query = { resource_id: id, created_after: since };
  const { data: { data: all = [], meta } = {} } = useQuery(operations.list({ ...query, per_page: 100 }));
  const hasMore = meta?.next_cursor != null;
  const ofTypes = useDone(query, hasMore);
  const listed = all.filter(({ type }) => MARKED_ON_INSTANCES.includes(type) && !(hasMore && MARKED.includes(type)));
  return [...ofTypes, ...listed].map((each) => markOf(each)).toSorted((one, other) => other.at.localeCompare(one.at));
}

/** Makes a mark of an operation; on a server, with the name of the instance. */
function markOf({ id, type, created_at }: Operation, instance?: string): Mark {
  const parts = [workOf(type).name, ...(instance === undefined ? [] : [instance]), formatTime(created_at)];
  return { id, at: created_at, title: parts.join(", ") };
}

/** A server's own work and that on its instances, of each kind the newest 100. */
function useMarksOfServer(serverId: string, since: string): Mark[] {
  const ofServer = useQuery(operations.list({ resource_id: serverId, created_after: since, per_page: 100 }));
  const ownMarks = (ofServer.data?.data ?? []).filter(({ type }) => MARKED_OF_SERVERS.includes(type)).map((each) => markOf(each));
  const onInstances = useDone({ server_id: serverId, created_after: since });
  const instanceMarks = onInstances.map((each) => markOf(each, each.resource.name ?? each.resource.id));
  return [...ownMarks, ...instanceMarks].toSorted((one, other) => other.at.localeCompare(one.at));
}

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
  const [query] = useState(() => ({ ...queryOf(QUARTER), series: "disk_used_bytes" }));
  const { data } = useQuery(servers.metrics(id, query));
  const lines = data === undefined ? [] : linesOf(data.data, ["disk_used_bytes"]);
  if (data === undefined || size === null) return null;
  const full = dayWhenFull(lines[0]?.values ?? [], { from: data.data.from, size });
  return (
    <Chart
      title={say.title}
      description={full === undefined ? say.unknown(DAYS_MIN) : full === null ? say.notFull : say.full(formatDay(full))}
      metrics={data.data}
      lines={lines}
      limit={{ title: say.size, value: size }}
    />
  );
}
