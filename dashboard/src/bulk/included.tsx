// The selected records that an action applies to, and the others with the reasons.
import Box from "@cloudscape-design/components/box";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import { text } from "../messages/text.ts";
import type { Candidate } from "./candidate.ts";

interface Choice {
  included: Candidate[];
  leftOut: [reason: string, candidates: Candidate[]][];
}

export function choose(selected: readonly Candidate[], whyNot = ({ exclusionReason }: Candidate) => exclusionReason): Choice {
  const byReason = Map.groupBy(selected, whyNot);
  return {
    included: byReason.get(undefined) ?? [],
    leftOut: [...byReason].flatMap(([reason, candidates]) => (reason === undefined ? [] : [[reason, candidates]])),
  };
}

export function Included({ of: { included, leftOut } }: { of: Choice }) {
  const names = (items: readonly Candidate[]) => items.map(({ name }) => name).join(", ");
  return (
    <>
      {included.length > 0 && (
        <ExpandableSection headerText={text.bulk.included(included.length)}>
          <div className="names">{names(included)}</div>
        </ExpandableSection>
      )}
      {leftOut.length > 0 && (
        <div>
          <Box variant="h3" padding="n">
            {text.bulk.leftOut(leftOut.reduce((sum, [, items]) => sum + items.length, 0))}
          </Box>
          <ul className="names">
            {leftOut.map(([reason, items]) => (
              <li key={reason}>
                {names(items)}: {reason}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
