// The work that was done on a resource, newest first, with its result or the reason why it failed.
import Box from "@cloudscape-design/components/box";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import type { Operation } from "../../../shared/api/operations.ts";
import { RequestId } from "../app/failure.tsx";
import { operations } from "../app/queries.ts";
import { Status } from "../resource/status.tsx";
import { ResourceTable } from "../resource/table.tsx";
import { Time } from "../resource/time.tsx";
import { useOperation } from "./watch.ts";
import { WORK } from "./words.ts";

export function OperationsTable({ resourceId }: { resourceId: string }) {
  return (
    <ResourceTable<Operation>
      title="Operations"
      list={operations.list}
      only={{ resource_id: resourceId }}
      prefix="operations"
      perPage={10}
      columns={[
        { id: "type", header: "Work", cell: ({ type }) => WORK[type].name },
        { id: "status", header: "Status", cell: (operation) => <LiveStatus operation={operation} /> },
        { id: "outcome", header: "Outcome", cell: (operation) => <Outcome operation={operation} /> },
        { id: "by", header: "Started by", cell: ({ created_by }) => created_by.name },
        { id: "at", header: "Started", cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
      empty="Nothing has been done here yet."
    />
  );
}

/** The list is as old as its last answer; the watch knows better. */
function LiveStatus({ operation }: { operation: Operation }) {
  const live = useOperation(operation.id) ?? operation;
  return <Status of="operation" status={live.status} />;
}

function Outcome({ operation }: { operation: Operation }) {
  const { error, finished_at, progress, step, type, request_id } = useOperation(operation.id) ?? operation;
  if (error !== null)
    return (
      <>
        {error.message}
        <RequestId id={request_id} />
      </>
    );
  if (finished_at === null)
    return <ProgressBar value={progress} ariaLabel={WORK[type].running} additionalInfo={step ?? "Waiting to begin"} />;
  return (
    <Box color="text-body-secondary">
      Done <Time at={finished_at} />
    </Box>
  );
}
