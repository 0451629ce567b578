// The work that was done on a resource, newest first, with its result or the reason why it failed, and another try.
import type { Operation } from "../../../shared/api/operations.ts";
import { Link } from "../app/link.tsx";
import { operations } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { ListFilters } from "../resource/list/list-filters.tsx";
import { ResourceTable } from "../resource/list/table.tsx";
import { outcomeColumns, startColumns, workColumn } from "./columns.tsx";
import { operationQuery, WorkFilters } from "./operation-filters.tsx";
import { pageOfSubject } from "./pages.ts";
import { workOf } from "./words.ts";

interface Props {
  resourceId: string;
  title?: string;
  description?: string;
  /** Prefix of the list's parameters in the URL. */
  prefix?: string;
}

const NARROWING = { query: operationQuery, Fields: WorkFilters };

export function OperationsTable({ resourceId, title = text.operations.title, description = "", prefix = "operations" }: Props) {
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
        workColumn((operation) => <Work operation={operation} on={resourceId} />),
        ...outcomeColumns(),
        ...startColumns(),
      ]}
      empty={text.operations.empty}
    />
  );
}

/** Work on a backup or a clone of an instance is part of the instance's history. The page of what was deleted since says so. */
function Work({ operation, on }: { operation: Operation; on: string }) {
  const { name } = workOf(operation.type);
  const page = operation.resource.id === on ? undefined : pageOfSubject(operation);
  return page === undefined ? name : <Link to={page}>{name}</Link>;
}
