// A warning if the disks of servers are low, and an error if some are almost full.
import Alert from "@cloudscape-design/components/alert";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Link } from "../app/link.tsx";
import { text } from "../messages/text.ts";
import type { LowDisks as Counts } from "./use-tally.ts";

export function LowDisks({ of: { below_5_percent: full, below_15_percent: low } }: { of: Counts }) {
  const say = text.home.lowDisks;
  return (
    <SpaceBetween size="s">
      {full > 0 && (
        <Alert type="error" header={say.almostFull(full)}>
          {say.almostFullAbout} <Link to="/servers">{say.view}</Link>
        </Alert>
      )}
      {low > 0 && (
        <Alert type="warning" header={say.low(low)}>
          {say.lowAbout} <Link to="/servers">{say.view}</Link>
        </Alert>
      )}
    </SpaceBetween>
  );
}
