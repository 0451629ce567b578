// Asks before an SSH key is deleted.
import type { SshKey } from "../../../shared/api/ssh-keys.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { Deletion } from "../resource/deletion.tsx";

export function DeleteSshKey({ sshKey: { id, name }, onDismiss }: { sshKey: SshKey; onDismiss: () => void }) {
  return (
    <Deletion
      title="Delete SSH key"
      confirm="Delete key"
      send={() => client.sshKeys.delete({ params: { id } })}
      onDeleted={() => {
        notify({ id, type: "success", header: `SSH key deleted: ${name}` });
        onDismiss();
      }}
      onDismiss={onDismiss}
    >
      <strong>{name}</strong> will no longer be available for new servers. Existing servers keep it. To revoke access, remove it
      from authorized_keys on each server.
    </Deletion>
  );
}
