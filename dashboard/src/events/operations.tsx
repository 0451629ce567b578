// All operations of the account: how each ended, why it failed, how long it took, who started it, and another try.
import type { Operation } from "../../../shared/api/operations.ts";
import { lazily } from "../app/lazily.tsx";
import { Link } from "../app/link.tsx";
import { operations } from "../app/queries.ts";
import { nameOfWork } from "../bulk/words.ts";
import { text } from "../messages/text.ts";
import { outcomeColumns, startColumns, workColumn } from "../operations/columns.tsx";
import { OperationFilters, operationQuery } from "../operations/operation-filters.tsx";
import { pageOf, pageOfSubject } from "../operations/pages.ts";
import { StartedBy } from "../operations/started-by.tsx";
import { actorInWords, durationInWords } from "../operations/words.ts";
import type { Column } from "../resource/list/column.ts";
import { ListPage } from "../resource/list/list-page.tsx";
import { buildQuery } from "../resource/list/list-query.ts";
import { OnDemand } from "../resource/page/on-demand.tsx";
import { useListState } from "../resource/list/use-list-state.ts";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { Only } from "./filters.tsx";

const OverTime = lazily(async () => (await import("./over-time.tsx")).OverTime);

const columns = (): [Column<Operation>, ...Column<Operation>[]] => [
  workColumn((operation) => <Link to={`/operations/${operation.id}`}>{nameOfWork(operation)}</Link>, nameOfWork),
  {
    id: "on",
    header: text.operations.columns.on,
    cell: (operation) => <Subject of={operation} />,
    text: nameOf,
  },
  ...outcomeColumns({ timed: true }),
  { id: "duration", header: text.operations.columns.duration, cell: durationInWords, text: durationInWords },
  ...startColumns(({ created_by }) => (
    <Wrapped>
      <StartedBy actor={created_by} /> <Only name="actor" value={created_by.id} label={actorInWords(created_by)} />
    </Wrapped>
  )),
];

/** A bulk action's page lists what it is about. */
const nameOf = ({ resource: { id, name }, result }: Operation): string =>
  result?.bulk === undefined ? (name ?? id) : text.bulk.count(result.bulk.total, result.bulk.type);

function Subject({ of: operation }: { of: Operation }) {
  const { resource } = operation;
  const name = nameOf(operation);
  const page = pageOfSubject(operation);
  if (resource.type === "account" || pageOf(resource) === undefined) return name;
  return (
    <Wrapped>
      {page === undefined ? name : <Link to={page}>{name}</Link>} <Only name="resource" value={resource.id} label={name} />
    </Wrapped>
  );
}

const LIST = { filters: { status: "operation" }, narrowing: { query: operationQuery, Fields: OperationFilters } } as const;

export default function Operations() {
  const say = text.events.overTime;
  const [listState] = useListState("");
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
        <OverTime query={buildQuery(LIST, listState).query} />
      </OnDemand>
    </ListPage>
  );
}
