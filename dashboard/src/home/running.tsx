// The operations in progress, live.
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import type { Operation } from "../../../shared/api/operations.ts";
import { useStep } from "../operations/use-step.ts";
import { useRunning } from "../operations/watch.ts";
import { workOf } from "../operations/words.ts";
import { Time } from "../resource/time.tsx";
import { type Known, Name } from "./names.tsx";

export function Running({ known }: { known: Known }) {
  const running = useRunning();
  return (
    <Container
      header={
        <Header variant="h2" {...(running.length > 0 && { counter: `(${running.length})` })}>
          In progress
        </Header>
      }
    >
      {running.length === 0 ? (
        <Box color="text-body-secondary">Nothing in progress.</Box>
      ) : (
        <ul className="plain">
          {running.map((operation) => (
            <li key={operation.id}>
              <Work operation={operation} known={known} />
            </li>
          ))}
        </ul>
      )}
    </Container>
  );
}

function Work({ operation, known }: { operation: Operation; known: Known }) {
  const { type, resource, progress, created_by, created_at } = operation;
  return (
    <ProgressBar
      value={progress}
      label={
        <>
          {workOf(type).running}: <Name of={resource} known={known} />
        </>
      }
      description={
        <>
          Started by {created_by.name} <Time at={created_at} />
        </>
      }
      additionalInfo={useStep(operation)}
    />
  );
}
