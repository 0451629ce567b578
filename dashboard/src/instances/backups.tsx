// The backups of an instance with their actions.
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import type { ServerOf } from "../allowed/instances.ts";
import { BackupCalendar } from "../backups/calendar.tsx";
import { BackupsTable } from "../backups/table.tsx";
import { text } from "../messages/text.ts";
import { OnDemand } from "../resource/on-demand.tsx";

export const BackupsOf = ({ instance, server }: { instance: ShownInstance; server: ServerOf | undefined }) => (
  <SpaceBetween size="l">
    <OnDemand title={text.backups.calendar.title}>
      <BackupCalendar instanceId={instance.id} nextAt={instance.protection.next_backup_at} />
    </OnDemand>
    <BackupsTable
      instanceId={instance.id}
      homeOf={() => ({ instance, server, deleted: false })}
      empty={text.instances.backups.empty}
    />
  </SpaceBetween>
);
