// Pauses a bulk action, resumes it, and cancels what has not begun.
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import type { Operation } from "../../../shared/api/operations.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { useMay } from "../app/may.tsx";
import { refresh } from "../app/query-client.ts";
import { text } from "../messages/text.ts";
import { updateWatchedOperation } from "../operations/watch-store.ts";
import { useKeptFocus } from "../resource/page/use-kept-focus.ts";
import { bulkNeeds } from "./needs.ts";

type Action = "pause" | "resume" | "cancel";

export const sendControl = (id: string, action: Action) =>
  client.operations.act({ params: { id }, body: { action }, idempotencyKey: crypto.randomUUID() });

export function Controls({ operation: { id, result } }: { operation: Operation }) {
  const say = text.bulk;
  const may = useMay();
  const act = useMutation({
    mutationFn: (action: Action) => sendControl(id, action),
    onSuccess: ({ data }) => updateWatchedOperation(data),
    onSettled: () => void refresh(),
  });
  const box = useRef<HTMLDivElement>(null);
  useKeptFocus(box);
  if (result?.bulk !== undefined && !may(...bulkNeeds(result.bulk))) return null;
  const next = result?.control === "pause" ? "resume" : "pause";
  // A button that waits keeps the focus, which a disabled one would lose.
  const button = (action: Action, label: string) => (
    <Button loading={act.isPending && act.variables === action} onClick={() => !act.isPending && act.mutate(action)}>
      {label}
    </Button>
  );
  return (
    <div ref={box}>
      {result?.control !== "cancel" && (
        <SpaceBetween size="xs">
          <SpaceBetween direction="horizontal" size="xs">
            {button(next, say[next])}
            {button("cancel", say.cancelRest)}
          </SpaceBetween>
          {act.error !== null && <Failure error={act.error} resend={() => act.mutate(act.variables)} />}
        </SpaceBetween>
      )}
    </div>
  );
}
