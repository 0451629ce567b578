// Looks for newer commits, and shows what is wrong with them, live.
import Alert from "@cloudscape-design/components/alert";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import type { Operation } from "../../../shared/api/operations.ts";
import type { ReasonCode } from "../../../shared/domain/reasons.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { May } from "../app/may.tsx";
import { text } from "../messages/text.ts";
import { isOpen } from "../operations/watch-store.ts";
import { useOperation } from "../operations/watch.ts";
import { Action } from "../resource/page/action.tsx";
import { ApiCall } from "../resource/dialog/api-call.tsx";
import { errorInWords } from "../resource/words/sentence.ts";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { nameOfRepository } from "./words.ts";

interface Choices {
  trust_new_host_keys?: boolean;
}

export function Check({ instance: { id } }: { instance: Pick<ShownInstance, "id"> }) {
  const say = text.code;
  const queryClient = useQueryClient();
  const [key, setKey] = useState(() => crypto.randomUUID());
  const send = (body: Choices = {}) => client.code.check({ params: { id }, body, idempotencyKey: key });
  const check = useMutation({
    mutationFn: (choices: Choices) => send(choices),
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
      <Action needs={INSTANCE_NEEDS.deploy} disabledReason={undefined} pending={isRunning} onClick={() => check.mutate({})}>
        {say.actions.check}
      </Action>
      {check.error !== null && <Failure error={check.error} />}
      {isRunning && <StatusIndicator type="in-progress">{say.check.running}</StatusIndicator>}
      {isDone && <Found operation={operation} onTrust={() => check.mutate({ trust_new_host_keys: true })} />}
      <May needs={INSTANCE_NEEDS.deploy}>
        <ApiCall send={() => send()} />
      </May>
    </SpaceBetween>
  );
}

const NEW_KEY: readonly string[] = ["code_new_host_key", "code_host_key_changed"] satisfies ReasonCode[];

function Found({ operation: { error, result }, onTrust }: { operation: Operation; onTrust: () => void }) {
  const say = text.code.check;
  if (error !== null) return <Alert type="error">{errorInWords(error)}</Alert>;
  const problems = result?.code?.problems ?? [];
  if (problems.length === 0) return <StatusIndicator type="success">{say.fine}</StatusIndicator>;
  return (
    <Alert
      type="error"
      header={say.problems(problems.length)}
      action={
        problems.some(({ reason }) => reason !== null && NEW_KEY.includes(reason.code)) && (
          <Action needs={INSTANCE_NEEDS.code} disabledReason={undefined} onClick={onTrust}>
            {say.trust}
          </Action>
        )
      }
    >
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
