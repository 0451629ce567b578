// The work that was done on a resource, newest first, with its result or the reason why it failed.
import type { Operation } from "../../../shared/api/operations.ts";
import { operations } from "../app/queries.ts";
import { Status } from "../resource/status.tsx";
import { ResourceTable } from "../resource/table.tsx";
import { Time } from "../resource/time.tsx";
import { Outcome } from "./outcome.tsx";
import { useOperation } from "./watch.ts";
import { workOf } from "./words.ts";

export function OperationsTable({ resourceId }: { resourceId: string }) {
  return (
    <ResourceTable<Operation>
      title="Operations"
      list={operations.list}
      only={{ resource_id: resourceId }}
      prefix="operations"
      perPage={10}
      columns={[
        { id: "type", header: "Operation", cell: ({ type }) => workOf(type).name },
        { id: "status", header: "Status", cell: (operation) => <LiveStatus operation={operation} /> },
        { id: "outcome", header: "Result", long: true, cell: (operation) => <Outcome operation={operation} /> },
        { id: "by", header: "Started by", cell: ({ created_by }) => created_by.name },
        { id: "at", header: "Started", cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
      empty="No operations yet."
    />
  );
}

/** The list is as old as its last response; the watch is more recent. */
function LiveStatus({ operation }: { operation: Operation }) {
  const live = useOperation(operation.id) ?? operation;
  return <Status of="operation" status={live.status} />;
}
