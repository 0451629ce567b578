// The progress of a bulk action, on every page until it is dismissed: how many are done, and at the end what failed and why.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Flashbar, { type FlashbarProps } from "@cloudscape-design/components/flashbar";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Link } from "../app/link.tsx";
import { spanInWords } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { useSecondsUntil } from "../session/countdown.ts";
import { type Batch, countsOf, dismissBatch, failuresOf, isOver, retryBatch, stopBatch, useBatch } from "./batch.ts";

export function BulkPanel() {
  const batch = useBatch();
  return batch !== undefined && <Flashbar items={[isOver(batch) ? resultOf(batch) : progressOf(batch)]} />;
}

function progressOf(batch: Batch): FlashbarProps.MessageDefinition {
  return {
    id: "bulk",
    type: "info",
    content: <Progress batch={batch} />,
    ...(batch.sending && { action: <Button onClick={stopBatch}>{text.bulk.cancelRest}</Button> }),
  };
}

function Progress({ batch }: { batch: Batch }) {
  const say = text.bulk;
  const { total, ended, running } = countsOf(batch);
  const wait = useSecondsUntil(batch.waitingUntil);
  return (
    <ProgressBar
      variant="flash"
      value={(100 * ended) / total}
      label={say.progress(batch.job.running, ended, total)}
      additionalInfo={
        wait > 0 && batch.sending
          ? say.waiting(
              <span role="timer" aria-live="off">
                {spanInWords(wait)}
              </span>,
            )
          : (batch.sending ? say.keepOpen : say.inProgress)(running)
      }
    />
  );
}

function resultOf(batch: Batch): FlashbarProps.MessageDefinition {
  const { total, done } = countsOf(batch);
  const failures = failuresOf(batch);
  return {
    id: "bulk",
    type: failures.length === 0 ? "success" : "error",
    header: text.bulk.result(batch.job.done, done, total, batch.job.kind),
    ariaRole: failures.length === 0 ? "status" : "alert",
    dismissible: true,
    dismissLabel: text.bulk.dismiss,
    onDismiss: dismissBatch,
    ...(failures.length > 0 && {
      content: (
        <SpaceBetween size="xs">
          {failures.map(([reason, targets]) => (
            <div key={reason}>
              <Box variant="strong" color="inherit" display="block">
                {reason}
              </Box>
              {targets.map(({ id, name, href }, index) => (
                <span key={id}>
                  {index > 0 && ", "}
                  <Link to={href}>{name}</Link>
                </span>
              ))}
            </div>
          ))}
        </SpaceBetween>
      ),
      action: <Button onClick={() => retryBatch(batch)}>{text.bulk.again}</Button>,
    }),
  };
}
