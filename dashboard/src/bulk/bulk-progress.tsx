// How far a bulk action is.
import ProgressBar from "@cloudscape-design/components/progress-bar";
import type { Operation } from "../../../shared/api/operations.ts";
import { text } from "../messages/text.ts";
import { bulkWork } from "./words.ts";

interface Props {
  operation: Operation;
  variant?: "standalone" | "flash";
}

export function BulkProgress({ operation: { result }, variant = "standalone" }: Props) {
  const say = text.bulk;
  if (result?.bulk === undefined) return null;
  const { type, action, total, running, succeeded, failed, cancelled } = result.bulk;
  const ended = succeeded + failed + cancelled;
  const state =
    result.control === "pause" ? say.paused : result.control === "cancel" ? say.cancelling : say.inProgress(running, failed);
  return (
    <ProgressBar
      variant={variant}
      value={Math.floor((100 * ended) / total)}
      label={say.progress(bulkWork(type, action).running(say.many(type)), ended, total)}
      additionalInfo={state}
    />
  );
}
