// The operations in progress, live.
import Box from "@cloudscape-design/components/box";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import type { Operation } from "../../../shared/api/operations.ts";
import { text } from "../messages/text.ts";
import { subjectOf } from "../operations/pages.ts";
import { useStep } from "../operations/use-step.ts";
import { useRunning } from "../operations/watch.ts";
import { actorInWords, workOf } from "../operations/words.ts";
import { Section } from "../resource/page/section.tsx";
import { Time } from "../resource/words/time.tsx";
import { ResourceName } from "./resource-name.tsx";

export function Running() {
  const running = useRunning();
  return (
    <Section fitHeight title={text.home.inProgress} counter={running.length > 0 ? `(${running.length})` : undefined}>
      {running.length === 0 ? (
        <Box color="text-body-secondary">{text.home.nothingInProgress}</Box>
      ) : (
        <ul className="plain">
          {running.map((operation) => (
            <li key={operation.id}>
              <Work operation={operation} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Work({ operation }: { operation: Operation }) {
  const { type, progress, created_by, created_at } = operation;
  return (
    <ProgressBar
      value={progress}
      label={
        <>
          {workOf(type).running}: <ResourceName of={subjectOf(operation)} />
        </>
      }
      description={text.home.startedBy(actorInWords(created_by), <Time at={created_at} />)}
      additionalInfo={useStep(operation)}
    />
  );
}
