// The current step of an operation, in words; also says if the progress is unavailable, because the bar then stands still.
import type { Operation } from "../../../shared/api/operations.ts";
import { text } from "../messages/text.ts";
import { useWatchFailed } from "./watch.ts";

export function useStep(operation: Operation | undefined): string {
  if (useWatchFailed()) return text.operations.progressUnknown;
  // A newer service may know more steps than this page.
  const words: Readonly<Record<string, string>> = text.operations.steps;
  return words[operation?.step_code ?? ""] ?? operation?.step ?? text.operations.queued;
}
