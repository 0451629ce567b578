// Looks for newer commits, and shows what is wrong with them, live.
import Alert from "@cloudscape-design/components/alert";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import type { Operation } from "../../../shared/api/operations.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { May } from "../app/may.tsx";
import { text } from "../messages/text.ts";
import { isOpen } from "../operations/watch-store.ts";
import { useOperation } from "../operations/watch.ts";
import { Action } from "../resource/action.tsx";
import { ApiCall } from "../resource/api-call.tsx";
import { errorInWords } from "../resource/sentence.ts";
import { Wrapped } from "../resource/wrapped.tsx";
import { nameOfRepository } from "./words.ts";

export function Check({ instance: { id } }: { instance: Pick<ShownInstance, "id"> }) {
  const say = text.code;
  const queryClient = useQueryClient();
  const [key, setKey] = useState(() => crypto.randomUUID());
  const send = () => client.code.check({ params: { id }, body: {}, idempotencyKey: key });
  const check = useMutation({
    mutationFn: send,
    onSuccess: () => setKey(crypto.randomUUID()),
  });
  const operation = useOperation(check.data?.data.id ?? null) ?? check.data?.data;
  const isRunning = check.isPending || (operation !== undefined && isOpen(operation));
  const isDone = operation !== undefined && !isRunning;
  useEffect(() => {
    if (isDone) void queryClient.invalidateQueries({ queryKey: ["code"] });
  }, [isDone, queryClient]);
  return (
    <SpaceBetween size="s">
      <Action needs={INSTANCE_NEEDS.deploy} disabledReason={undefined} pending={isRunning} onClick={() => check.mutate()}>
        {say.actions.check}
      </Action>
      {check.error !== null && <Failure error={check.error} />}
      {isRunning && <StatusIndicator type="in-progress">{say.check.running}</StatusIndicator>}
      {isDone && <Found operation={operation} />}
      <May needs={INSTANCE_NEEDS.deploy}>
        <ApiCall send={send} />
      </May>
    </SpaceBetween>
  );
}

function Found({ operation: { error, result } }: { operation: Operation }) {
  const say = text.code.check;
  if (error !== null) return <Alert type="error">{errorInWords(error)}</Alert>;
  const problems = result?.code?.problems ?? [];
  if (problems.length === 0) return <StatusIndicator type="success">{say.fine}</StatusIndicator>;
  return (
    <Alert type="error" header={say.problems(problems.length)}>
      {problems.map((problem, index) => (
        <div key={index}>
          <Wrapped>
            {nameOfRepository(problem.url)}: {errorInWords(problem)}
          </Wrapped>
        </div>
      ))}
    </Alert>
  );
}
