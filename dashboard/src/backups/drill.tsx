// What the last restore drill of a backup found.
import Box from "@cloudscape-design/components/box";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Header from "@cloudscape-design/components/header";
import { useState } from "react";
import type { Backup } from "../../../shared/api/backups.ts";
import { whyNotDrill } from "../allowed/backups.ts";
import { BACKUP_NEEDS } from "../allowed/needs.ts";
import { Action } from "../resource/page/action.tsx";
import { checkInSentence } from "../resource/words/sentence.ts";
import { Status } from "../resource/words/status.tsx";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { lazily } from "../app/lazily.tsx";
import { text } from "../messages/text.ts";
import { checkInWords } from "./words.ts";

const RunDrill = lazily(async () => (await import("./run-drill.tsx")).RunDrill, "backupDialogs", "servers");

/** Each check with what it found. */
export function DrillResult({ backup }: { backup: Backup }) {
  const say = text.backupDialogs.drill;
  const { drill } = backup;
  const [asking, setAsking] = useState(false);
  return (
    <section aria-label={say.title}>
      <Header
        variant="h3"
        actions={
          <Action needs={BACKUP_NEEDS.drill} disabledReason={whyNotDrill(backup)} onClick={() => setAsking(true)}>
            {say.run}
          </Action>
        }
      >
        {say.title}
      </Header>
      {drill === null ? (
        <Box color="text-body-secondary">{say.none}</Box>
      ) : (
        <SpaceBetween size="s">
          <Box>
            <Status of="drill" status={drill.status} /> <Time at={drill.at} exact />
          </Box>
          <KeyValuePairs
            columns={2}
            minColumnWidth={200}
            items={drill.checks.map(({ name, passed, ...check }) => ({
              label: checkInWords(name),
              value: (
                <>
                  <Found passed={passed} />
                  <Wrapped>
                    <Box variant="small">{checkInSentence(check)}</Box>
                  </Wrapped>
                </>
              ),
            }))}
          />
        </SpaceBetween>
      )}
      {asking && <RunDrill backup={backup} onDismiss={() => setAsking(false)} />}
    </section>
  );
}

function Found({ passed }: { passed: boolean | null }) {
  const say = text.backupDialogs.drill;
  if (passed === null) return <StatusIndicator type="info">{say.unchecked}</StatusIndicator>;
  return <StatusIndicator type={passed ? "success" : "error"}>{passed ? say.passed : say.failed}</StatusIndicator>;
}
