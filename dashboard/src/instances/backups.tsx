// The backups of an instance with their actions, and "Back up now".
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import { BackupCalendar } from "../backups/calendar.tsx";
import { BackupsTable } from "../backups/table.tsx";
import { text } from "../messages/text.ts";
import { Action } from "../resource/action.tsx";
import { OnDemand } from "../resource/on-demand.tsx";
import { type ServerOf, whyNot } from "../allowed/instances.ts";
import { lazily } from "../app/lazily.tsx";

const BackUp = lazily(async () => (await import("../backups/back-up.tsx")).BackUp, "backupDialogs");

export function BackupsOf({ instance, server }: { instance: ShownInstance; server: ServerOf | undefined }) {
  const [asking, setAsking] = useState(false);
  return (
    <SpaceBetween size="l">
      <OnDemand title={text.backups.calendar.title}>
        <BackupCalendar instanceId={instance.id} nextAt={instance.protection.next_backup_at} />
      </OnDemand>
      <BackupsTable
        instanceId={instance.id}
        homeOf={() => ({ instance, server, deleted: false })}
        empty={text.instances.backups.empty}
        actions={
          <Action disabledReason={whyNot("backup", instance, server)} onClick={() => setAsking(true)}>
            {text.instances.backups.backUp}
          </Action>
        }
      />
      {asking && <BackUp instance={instance} onDismiss={() => setAsking(false)} />}
    </SpaceBetween>
  );
}
