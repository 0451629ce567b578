// Recent failures: operations with their reasons, and restore drills.
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import Spinner from "@cloudscape-design/components/spinner";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import type { Operation } from "../../../shared/api/operations.ts";
import type { Event } from "../../../shared/api/events.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { Failure, RequestId } from "../app/failure.tsx";
import { failedDrills, operations } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { type NamedResource, subjectOf } from "../operations/pages.ts";
import { workOf } from "../operations/words.ts";
import { errorInWords } from "../resource/sentence.ts";
import { Time } from "../resource/time.tsx";
import { serviceNow } from "../session/clock.ts";
import { Name } from "./names.tsx";

const SHOWN = 5;
const DAYS = 7;
const DAY_MS = 86_400_000;

interface Entry extends Pick<Event, "id" | "request_id"> {
  title: string;
  resource: NamedResource;
  reason?: string | undefined;
  at: string;
}

function ofOperation(operation: Operation): Entry {
  const { id, request_id, type, error, finished_at, created_at } = operation;
  return {
    id,
    request_id,
    resource: subjectOf(operation),
    title: workOf(type).failed,
    reason: error === null ? undefined : errorInWords(error),
    at: finished_at ?? created_at,
  };
}

const ofDrill = ({ created_at, ...rest }: Event): Entry => ({ ...rest, title: text.operations.drillFailed, at: created_at });

const isRecent = ({ at }: Entry): boolean => Date.parse(at) > serviceNow() - DAYS * DAY_MS;
const newestFirst = (a: Entry, b: Entry): number => Date.parse(b.at) - Date.parse(a.at);

export function Failed() {
  // The API lists operations by their start, so one that took long and has just failed may be far down.
  const failed = useQuery(operations.list({ status: "failed", per_page: PER_PAGE_MAX }));
  const drills = useQuery(failedDrills({ per_page: SHOWN }));
  const error = failed.error ?? drills.error;
  const retry = () => void Promise.all([failed.refetch(), drills.refetch()]);
  const known = failed.data && drills.data && [...failed.data.data.map(ofOperation), ...drills.data.data.map(ofDrill)];
  const recent = known?.filter(isRecent).toSorted(newestFirst).slice(0, SHOWN);
  return (
    <Container fitHeight header={<Header variant="h2">{text.home.failures}</Header>}>
      {recent === undefined ? (
        error === null ? (
          <Spinner />
        ) : (
          <Failure error={error} retry={retry} />
        )
      ) : recent.length === 0 ? (
        <Box color="text-body-secondary">{text.home.noFailures(DAYS)}</Box>
      ) : (
        <ul className="plain">
          {recent.map((entry) => (
            <li key={entry.id}>
              <FailedWork entry={entry} />
            </li>
          ))}
        </ul>
      )}
    </Container>
  );
}

function FailedWork({ entry: { title, resource, reason, request_id, at } }: { entry: Entry }) {
  return (
    <>
      <StatusIndicator type="error">{title}</StatusIndicator>: <Name of={resource} />
      <Box>{reason}</Box>
      <Box variant="small" color="text-body-secondary">
        <Time at={at} />
        <RequestId id={request_id} />
      </Box>
    </>
  );
}
