// What an operation has logged on its server: of one that has failed the last lines at once, of others on request. It is shown as
// text, because ERPs and their databases write parts of it.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Operation } from "../../../shared/api/operations.ts";
import { Failure } from "../app/failure.tsx";
import { operations } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { saveFile } from "../resource/list/csv.ts";
import { Section } from "../resource/page/section.tsx";
import { isOpen } from "./watch-store.ts";

const LAST_LINES = 20;
/** The API allows ten reads of a log in a minute. */
const LOG_POLL_MS = 7_000;

export function WorkLog({ operation }: { operation: Operation }) {
  const say = text.operations.log;
  const isRunning = isOpen(operation);
  const [isWhole, setWhole] = useState(operation.status !== "failed");
  const { data, error, isFetching, refetch } = useQuery({
    ...operations.log(operation.id, operation.status),
    refetchInterval: isRunning && LOG_POLL_MS,
  });
  const fullText = data?.data.text ?? "";
  const lines = fullText.trimEnd().split("\n");
  const isCut = !isWhole && lines.length > LAST_LINES;
  const excerpt = isCut ? lines.slice(-LAST_LINES).join("\n") : fullText;
  return (
    <Section
      title={isCut ? say.last(LAST_LINES) : say.title}
      actions={
        <SpaceBetween direction="horizontal" size="xs">
          {isCut && <Button onClick={() => setWhole(true)}>{say.showAll}</Button>}
          <Button
            disabled={fullText === ""}
            iconName="download"
            onClick={() => saveFile(`${operation.id}.log`, fullText, "plain")}
          >
            {say.download}
          </Button>
        </SpaceBetween>
      }
    >
      {error !== null && !isFetching && <Failure error={error} retry={() => void refetch()} />}
      {data !== undefined && fullText === "" ? (
        <Box color="text-status-inactive">{isRunning ? say.nothingYet : say.none}</Box>
      ) : (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus, or the keyboard cannot scroll it
        <div className="log" role="region" aria-label={say.title} tabIndex={0}>
          {excerpt}
        </div>
      )}
    </Section>
  );
}
