// The backups of an instance with their actions.
import type { ShownInstance } from "../../../shared/api/instances.ts";
import type { ServerOf } from "../allowed/instances.ts";
import { BackupsTable } from "../backups/table.tsx";
import { text } from "../messages/text.ts";

export const BackupsOf = ({ instance, server }: { instance: ShownInstance; server: ServerOf | undefined }) => (
  <BackupsTable
    instanceId={instance.id}
    homeOf={() => ({ instance, server, deleted: false })}
    empty={text.instances.backups.empty}
  />
);
