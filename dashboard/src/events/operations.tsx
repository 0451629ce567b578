// All operations of the account: how each ended, why it failed, how long it took, who started it, and another try.
import type { Operation } from "../../../shared/api/operations.ts";
import { lazily } from "../app/lazily.tsx";
import { Link } from "../app/link.tsx";
import { operations } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Outcome } from "../operations/outcome.tsx";
import { pageOf } from "../operations/pages.ts";
import { LiveStatus } from "../operations/table.tsx";
import { actorInWords, durationInWords, workOf } from "../operations/words.ts";
import type { Column } from "../resource/column.ts";
import { ListPage, menuColumn } from "../resource/list-page.tsx";
import { buildQuery } from "../resource/list-query.ts";
import { OnDemand } from "../resource/on-demand.tsx";
import { shownOf } from "../resource/status.tsx";
import { errorInWords } from "../resource/sentence.ts";
import { Time } from "../resource/time.tsx";
import { usePlace } from "../resource/use-place.ts";
import { Wrapped } from "../resource/wrapped.tsx";
import { Only } from "./filters.tsx";
import { OperationFilters, operationQuery } from "../operations/operation-filters.tsx";
import { StartedBy } from "../operations/started-by.tsx";
import { RetryMenu } from "./retry.tsx";

const OverTime = lazily(async () => (await import("./over-time.tsx")).OverTime);

function columns(): [Column<Operation>, ...Column<Operation>[]] {
  const say = text.operations.columns;
  return [
    {
      id: "type",
      header: say.operation,
      cell: ({ id, type }) => <Link to={`/operations/${id}`}>{workOf(type).name}</Link>,
      text: ({ type }) => workOf(type).name,
    },
    { id: "on", header: say.on, cell: ({ resource }) => <Subject of={resource} />, text: ({ resource }) => nameOf(resource) },
    {
      id: "status",
      header: say.status,
      cell: (operation) => <LiveStatus operation={operation} />,
      text: ({ status }) => shownOf("operation", status).word,
    },
    {
      id: "outcome",
      header: say.result,
      cell: (operation) => <Outcome operation={operation} />,
      text: ({ error }) => (error === null ? "" : errorInWords(error)),
    },
    { id: "duration", header: say.duration, cell: durationInWords, text: durationInWords },
    {
      id: "by",
      header: say.by,
      cell: ({ created_by }) => (
        <Wrapped>
          <StartedBy actor={created_by} /> <Only name="actor" value={created_by.id} what={actorInWords(created_by)} />
        </Wrapped>
      ),
      text: ({ created_by }) => actorInWords(created_by),
    },
    { id: "at", header: say.at, cell: ({ created_at }) => <Time at={created_at} />, text: ({ created_at }) => created_at },
    menuColumn((operation) => <RetryMenu operation={operation} />),
  ];
}

const nameOf = ({ id, name }: Operation["resource"]): string => name ?? id;

/** A bulk action is on the account, and its page lists what it is about. */
function Subject({ of: resource }: { of: Operation["resource"] }) {
  const page = pageOf(resource);
  if (resource.type === "account" || page === undefined) return nameOf(resource);
  return (
    <Wrapped>
      <Link to={page}>{nameOf(resource)}</Link> <Only name="resource" value={resource.id} what={nameOf(resource)} />
    </Wrapped>
  );
}

const LIST = { filters: { status: "operation" }, narrowing: { query: operationQuery, Fields: OperationFilters } } as const;

export default function Operations() {
  const say = text.events.overTime;
  const [place] = usePlace("");
  return (
    <ListPage
      {...LIST}
      title={text.operations.title}
      description={text.events.operations}
      list={operations.list}
      columns={columns()}
      perPage={25}
      empty={text.operations.empty}
    >
      <OnDemand title={say.title} description={say.about}>
        <OverTime query={buildQuery(LIST, place).query} />
      </OnDemand>
    </ListPage>
  );
}
