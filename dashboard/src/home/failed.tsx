// Recent failures, with their reasons.
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import Spinner from "@cloudscape-design/components/spinner";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import type { Operation } from "../../../shared/api/operations.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { Failure, RequestId } from "../app/failure.tsx";
import { operations } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { workOf } from "../operations/words.ts";
import { Time } from "../resource/time.tsx";
import { serviceNow } from "../session/clock.ts";
import { Name } from "./names.tsx";

const SHOWN = 5;
const DAYS = 7;
const DAY_MS = 86_400_000;

const endOf = ({ created_at, finished_at }: Operation): number => Date.parse(finished_at ?? created_at);

export function Failed() {
  // The API lists operations by their start, so one that took long and has just failed may be far down.
  const { data, error, refetch } = useQuery(operations.list({ status: "failed", per_page: PER_PAGE_MAX }));
  const since = serviceNow() - DAYS * DAY_MS;
  const recent = (data?.data ?? [])
    .filter((operation) => endOf(operation) > since)
    .toSorted((a, b) => endOf(b) - endOf(a))
    .slice(0, SHOWN);
  return (
    <Container fitHeight header={<Header variant="h2">{text.home.failures}</Header>}>
      {data === undefined ? (
        error === null ? (
          <Spinner />
        ) : (
          <Failure error={error} retry={() => void refetch()} />
        )
      ) : recent.length === 0 ? (
        <Box color="text-body-secondary">{text.home.noFailures(DAYS)}</Box>
      ) : (
        <ul className="plain">
          {recent.map((operation) => (
            <li key={operation.id}>
              <FailedWork operation={operation} />
            </li>
          ))}
        </ul>
      )}
    </Container>
  );
}

function FailedWork({ operation: { type, resource, error, request_id, finished_at } }: { operation: Operation }) {
  return (
    <>
      <StatusIndicator type="error">{workOf(type).failed}</StatusIndicator>: <Name of={resource} />
      <Box>{error?.message}</Box>
      <Box variant="small" color="text-body-secondary">
        <Time at={finished_at} />
        <RequestId id={request_id} />
      </Box>
    </>
  );
}
