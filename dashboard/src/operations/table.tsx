// The work that was done on a resource, newest first, with its result or the reason why it failed.
import type { Operation } from "../../../shared/api/operations.ts";
import { Link } from "../app/link.tsx";
import { operations } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { ListFilters } from "../resource/list-filters.tsx";
import { errorInWords } from "../resource/sentence.ts";
import { shownOf, Status } from "../resource/status.tsx";
import { ResourceTable } from "../resource/table.tsx";
import { Time } from "../resource/time.tsx";
import { Outcome } from "./outcome.tsx";
import { operationQuery, WorkFilters } from "./operation-filters.tsx";
import { pageOf } from "./pages.ts";
import { StartedBy } from "./started-by.tsx";
import { useOperation } from "./watch.ts";
import { actorInWords, workOf } from "./words.ts";

interface Props {
  resourceId: string;
  title?: string;
  description?: string;
  /** Of the parameters of its place in the URL. */
  prefix?: string;
}

const NARROWING = { query: operationQuery, Fields: WorkFilters };

export function OperationsTable({ resourceId, title = text.operations.title, description = "", prefix = "operations" }: Props) {
  const say = text.operations.columns;
  return (
    <ResourceTable<Operation>
      title={title}
      description={description}
      list={operations.list}
      only={{ resource_id: resourceId }}
      prefix={prefix}
      perPage={10}
      Filters={ListFilters}
      filters={{ status: "operation" }}
      narrowing={NARROWING}
      columns={[
        {
          id: "type",
          header: say.operation,
          cell: (operation) => <Work operation={operation} on={resourceId} />,
          text: ({ type }) => workOf(type).name,
        },
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
        {
          id: "by",
          header: say.by,
          cell: ({ created_by }) => <StartedBy actor={created_by} />,
          text: ({ created_by }) => actorInWords(created_by),
        },
        { id: "at", header: say.at, cell: ({ created_at }) => <Time at={created_at} />, text: ({ created_at }) => created_at },
      ]}
      empty={text.operations.empty}
    />
  );
}

/** Work on a backup or a clone of an instance is part of the instance's history. The page of what was deleted since says so. */
function Work({ operation: { type, resource }, on }: { operation: Operation; on: string }) {
  const { name } = workOf(type);
  const page = resource.id === on ? undefined : pageOf(resource);
  return page === undefined ? name : <Link to={page}>{name}</Link>;
}

/** The list is as old as its last response; the watch is more recent. */
export function LiveStatus({ operation }: { operation: Operation }) {
  const live = useOperation(operation.id) ?? operation;
  return <Status of="operation" status={live.status} />;
}
