// Counts of servers, instances and backups by status; each number links to its list.
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import CloudscapeLink from "@cloudscape-design/components/link";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { ResourceType } from "../../../shared/domain/lifecycle.ts";
import { Failure } from "../app/failure.tsx";
import { useFollow } from "../app/follow.ts";
import { STATUSES } from "../resource/status.tsx";
import { type Counted, RESTING } from "./use-tally.ts";

interface Props {
  of: ResourceType;
  title: string;
  href: string;
  counted: Pick<Counted, "tally" | "error" | "retry">;
}

export function Counts({ of, title, href, counted: { tally, error, retry } }: Props) {
  if (tally === undefined)
    return (
      <Container header={<Header variant="h2">{title}</Header>}>
        {error !== null && <Failure error={error} retry={retry} />}
      </Container>
    );
  const resting = Object.entries(STATUSES[of])
    .filter(([status]) => RESTING[of].includes(status))
    .map(([status, shown]) => ({ ...shown, status, number: tally.count(status) }));
  const moving = tally.total - resting.reduce((sum, { number = Number.NaN }) => sum + number, 0);
  return (
    <Container
      fitHeight
      header={
        <Header variant="h2" counter={`(${tally.total})`}>
          {title}
        </Header>
      }
    >
      <ul className="plain counts">
        {resting.map(({ word, sign, status, number }) => (
          <li key={status}>
            <StatusIndicator type={sign} {...(number === 0 && { colorOverride: "grey" })}>
              {word}
            </StatusIndicator>
            <Count number={number} href={`${href}?status=${status}`} what={`${word} ${title}`} />
          </li>
        ))}
        {moving > 0 && (
          <li>
            <StatusIndicator type="in-progress">In progress</StatusIndicator>
            <Count number={moving} href={href} what={`${title} in progress`} />
          </li>
        )}
      </ul>
    </Container>
  );
}

export function Count({ number, href, what }: { number: number | undefined; href: string; what: string }) {
  const follow = useFollow();
  if (number === undefined) return "…";
  return (
    <CloudscapeLink href={href} onFollow={follow} fontSize="heading-m" ariaLabel={`${number} ${what.toLowerCase()}`}>
      {number}
    </CloudscapeLink>
  );
}
