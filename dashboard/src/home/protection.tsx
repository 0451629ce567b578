// How many instances are protected by backups; each number links to the list.
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { text } from "../messages/text.ts";
import { Section } from "../resource/page/section.tsx";
import { formatCount } from "../resource/words/number.ts";
import { shownOf } from "../resource/words/status.tsx";
import { Count } from "./counts.tsx";

const ORDER = ["overdue", "unprotected", "protected"] as const;

export function Protection({ counts }: { counts: Readonly<Record<(typeof ORDER)[number], number>> }) {
  return (
    <Section fitHeight title={text.home.protection}>
      <ul className="plain counts">
        {ORDER.map((status) => {
          const { word, sign } = shownOf("protection", status);
          const number = counts[status];
          return (
            <li key={status}>
              <StatusIndicator type={sign} {...(number === 0 && { colorOverride: "grey" })}>
                {word}
              </StatusIndicator>
              <Count
                number={number}
                href={`/instances?protection=${status}`}
                ariaLabel={text.home.counted(number, formatCount(number), word, text.home.instances)}
              />
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
