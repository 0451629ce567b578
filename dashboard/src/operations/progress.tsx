// How far long work has come, live: its step and percentage while it runs, then nothing.
import Alert from "@cloudscape-design/components/alert";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import type { Operation } from "../../../shared/api/operations.ts";
import { useOperation } from "./watch.ts";
import { workOf } from "./words.ts";

/** The work that holds a record now: give it the record's `operation_id`. */
export function Progress({ id }: { id: string | null }) {
  const operation = useOperation(id);
  if (id === null || operation?.finished_at !== null) return null;
  return (
    <Alert type="info" statusIconAriaLabel="Running">
      <OperationBar operation={operation} />
    </Alert>
  );
}

export function OperationBar({ operation }: { operation: Operation }) {
  return (
    <ProgressBar
      value={operation.progress}
      label={workOf(operation.type).running}
      additionalInfo={operation.step ?? "Waiting to begin"}
      ariaLabel={workOf(operation.type).running}
    />
  );
}
