// How many instances are protected by backups; each number links to the list.
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQueries } from "@tanstack/react-query";
import type { Instance } from "../../../shared/api/instances.ts";
import { instances } from "../app/queries.ts";
import { STATUSES } from "../resource/status.tsx";
import { Count } from "./counts.tsx";
import type { Tally } from "./use-tally.ts";

const ORDER = ["overdue", "unprotected", "protected"] as const;

export function Protection({ tally: { items, whole } }: { tally: Tally<Instance> }) {
  const totals = useQueries({
    queries: ORDER.map((protection) => ({ ...instances.list({ protection, per_page: 1 }), enabled: !whole })),
  });
  return (
    <Container header={<Header variant="h2">Protection</Header>}>
      <ul className="plain counts">
        {ORDER.map((status, index) => {
          const { word, sign } = STATUSES.protection[status];
          const number = whole
            ? items.filter(({ protection }) => protection.status === status).length
            : totals[index]?.data?.meta.total;
          return (
            <li key={status}>
              <StatusIndicator type={sign} {...(number === 0 && { colorOverride: "grey" })}>
                {word}
              </StatusIndicator>
              <Count number={number} href={`/instances?protection=${status}`} what={`${word} instances`} />
            </li>
          );
        })}
      </ul>
    </Container>
  );
}
