// How far long work has come, live: its step and percentage while it runs, then nothing.
import Alert from "@cloudscape-design/components/alert";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import type { Operation } from "../../../shared/api/operations.ts";
import { text } from "../messages/text.ts";
import { useStep } from "./use-step.ts";
import { useOperation, useWatchFailed } from "./watch.ts";
import { workOf } from "./words.ts";

/**
 * The work that holds a record now: give it the record's `operation_id`; `except` is the type of the work that the page shows
 * already.
 */
export function Progress({ id, except }: { id: string | null; except?: Operation["type"] }) {
  const operation = useOperation(id);
  const failed = useWatchFailed();
  if (id === null) return null;
  if (operation === undefined) return failed && <Alert type="warning">{text.operations.progressUnknown}</Alert>;
  if (operation.finished_at !== null || operation.type === except) return null;
  return (
    <Alert type="info" statusIconAriaLabel={text.operations.running}>
      <OperationBar operation={operation} />
    </Alert>
  );
}

function OperationBar({ operation }: { operation: Operation }) {
  return (
    <ProgressBar
      value={operation.progress}
      label={workOf(operation.type).running}
      additionalInfo={useStep(operation)}
      ariaLabel={workOf(operation.type).running}
    />
  );
}
