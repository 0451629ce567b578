// The backups of an instance with their actions, and how their size has changed.
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import type { ServerOf } from "../allowed/instances.ts";
import { lazily } from "../app/lazily.tsx";
import { BackupsBulk } from "../backups/bulk.tsx";
import { BackupsTable } from "../backups/table.tsx";
import { text } from "../messages/text.ts";
import { OnDemand } from "../resource/page/on-demand.tsx";

const BackupSizes = lazily(async () => (await import("../backups/sizes.tsx")).BackupSizes, "metrics");

export const BackupsOf = ({ instance, server }: { instance: ShownInstance; server: ServerOf | undefined }) => (
  <SpaceBetween size="l">
    <BackupsTable
      bulk={BackupsBulk}
      instanceId={instance.id}
      useHome={() => ({ instance, server, deleted: false })}
      empty={text.instances.backups.empty}
    />
    <OnDemand title={text.backups.sizes}>
      <BackupSizes instanceId={instance.id} />
    </OnDemand>
  </SpaceBetween>
);
