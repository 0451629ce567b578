// Counts of servers, instances and backups by status; each number links to its list.
import Box from "@cloudscape-design/components/box";
import CloudscapeLink from "@cloudscape-design/components/link";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { ResourceType } from "../../../shared/domain/lifecycle.ts";
import { useFollow } from "../app/follow.ts";
import { text } from "../messages/text.ts";
import { Section } from "../resource/page/section.tsx";
import { formatCount } from "../resource/words/number.ts";
import { shownOf } from "../resource/words/status.tsx";
import { RESTING, type Tally } from "./use-tally.ts";

interface Props {
  of: ResourceType;
  title: string;
  href: string;
  tally: Tally;
}

export function Counts({ of, title, href, tally }: Props) {
  const resting = RESTING[of].map((status) => ({ ...shownOf(of, status), status, number: tally.count(status) }));
  const moving = tally.total - resting.reduce((sum, { number }) => sum + number, 0);
  return (
    <Section fitHeight title={title} counter={`(${formatCount(tally.total)})`}>
      <ul className="plain counts">
        {resting.map(({ word, sign, status, number }) => (
          <li key={status}>
            <StatusIndicator type={sign} {...(number === 0 && { colorOverride: "grey" })}>
              {word}
            </StatusIndicator>
            <Count
              number={number}
              href={`${href}?status=${status}`}
              ariaLabel={text.home.counted(number, formatCount(number), word, title)}
            />
          </li>
        ))}
        {moving > 0 && (
          <li>
            <StatusIndicator type="in-progress">{text.home.inProgress}</StatusIndicator>
            <Count number={moving} href={href} ariaLabel={text.home.countedInProgress(moving, formatCount(moving), title)} />
          </li>
        )}
      </ul>
    </Section>
  );
}

/** Zeros are quiet: there is nothing to see behind them. */
export function Count({ number, href, ariaLabel }: { number: number; href: string; ariaLabel: string }) {
  const follow = useFollow();
  if (number === 0) return <Box color="text-body-secondary">{formatCount(0)}</Box>;
  return (
    <CloudscapeLink href={href} onFollow={follow} fontSize="heading-m" ariaLabel={ariaLabel}>
      {formatCount(number)}
    </CloudscapeLink>
  );
}
