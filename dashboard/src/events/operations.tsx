// All operations of the account: how each ended, why it failed, how long it took, who started it, and another try.
import type { Operation } from "../../../shared/api/operations.ts";
import { lazily } from "../app/lazily.tsx";
import { Link } from "../app/link.tsx";
import { operations } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { outcomeColumns, startColumns, workColumn } from "../operations/columns.tsx";
import { OperationFilters, operationQuery } from "../operations/operation-filters.tsx";
import { pageOf } from "../operations/pages.ts";
import { StartedBy } from "../operations/started-by.tsx";
import { actorInWords, durationInWords, workOf } from "../operations/words.ts";
import type { Column } from "../resource/column.ts";
import { ListPage } from "../resource/list-page.tsx";
import { buildQuery } from "../resource/list-query.ts";
import { OnDemand } from "../resource/on-demand.tsx";
import { usePlace } from "../resource/use-place.ts";
import { Wrapped } from "../resource/wrapped.tsx";
import { Only } from "./filters.tsx";

const OverTime = lazily(async () => (await import("./over-time.tsx")).OverTime);

const columns = (): [Column<Operation>, ...Column<Operation>[]] => [
  workColumn(({ id, type }) => <Link to={`/operations/${id}`}>{workOf(type).name}</Link>),
  {
    id: "on",
    header: text.operations.columns.on,
    cell: ({ resource }) => <Subject of={resource} />,
    text: ({ resource }) => nameOf(resource),
  },
  ...outcomeColumns(),
  { id: "duration", header: text.operations.columns.duration, cell: durationInWords, text: durationInWords },
  ...startColumns(({ created_by }) => (
    <Wrapped>
      <StartedBy actor={created_by} /> <Only name="actor" value={created_by.id} what={actorInWords(created_by)} />
    </Wrapped>
  )),
];

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
