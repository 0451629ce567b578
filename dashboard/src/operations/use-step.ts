// The current step of an operation, in words; also says if the progress is unavailable, because the bar then stands still.
import type { Operation } from "../../../shared/api/operations.ts";
import { useWatchFailed } from "./watch.ts";

export function useStep(operation: Operation | undefined): string {
  if (useWatchFailed()) return PROGRESS_UNKNOWN;
  return operation?.step ?? "Queued";
}

export const PROGRESS_UNKNOWN = "Can't get the progress right now. Trying again…";
