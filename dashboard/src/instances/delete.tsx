// Asks before an instance is deleted.
import type { Instance } from "../../../shared/api/instances.ts";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { client } from "../app/client.ts";
import { Deletion } from "../resource/deletion.tsx";
import { isUsable } from "../allowed/instances.ts";

interface Props {
  instance: Instance;
  server: ListedServer | undefined;
  onDeleting: () => void;
  onDismiss: () => void;
}

export function DeleteInstance({ instance: { id, name, domain }, server, onDeleting, onDismiss }: Props) {
  return (
    <Deletion
      title="Delete instance"
      name={name}
      confirm="Delete instance"
      send={() => client.instances.delete({ params: { id } })}
      rehearse={() => client.instances.delete.dryRun({ params: { id } })}
      onDeleted={onDeleting}
      onDismiss={onDismiss}
    >
      This permanently deletes its database and files, and {domain} stops working. Backups are kept; you can clone a new instance
      from them.
      {server !== undefined && !isUsable(server) && (
        <>
          {" "}
          The server {server.name} is {server.status}, so only the record is removed. Data on the machine is kept.
        </>
      )}
    </Deletion>
  );
}
