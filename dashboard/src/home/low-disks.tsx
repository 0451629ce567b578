// The servers whose disk fills up, the fullest first.
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { Link } from "../app/link.tsx";
import { text } from "../messages/text.ts";
import { Section } from "../resource/page/section.tsx";
import { diskUse } from "../servers/reported.tsx";
import type { useNeeds } from "./needs.ts";

export function LowDisks({ of: disks }: { of: ReturnType<typeof useNeeds>["lowDisks"] }) {
  const say = text.home.lowDisks;
  return (
    <Section title={say.title}>
      <SpaceBetween size="s">
        <ul className="plain">
          {disks.map(({ server, isAlmostFull }) => (
            <li key={server.id}>
              <StatusIndicator type={isAlmostFull ? "error" : "warning"}>
                {isAlmostFull ? say.almostFull : say.low}
              </StatusIndicator>
              : <Link to={`/servers/${server.id}`}>{server.name}</Link> {diskUse(server)}
            </li>
          ))}
        </ul>
        {disks.some(({ isAlmostFull }) => isAlmostFull) ? say.almostFullAbout : say.lowAbout}
      </SpaceBetween>
    </Section>
  );
}
