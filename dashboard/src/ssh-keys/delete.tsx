// Asks before an SSH key is deleted.
import type { SshKey } from "../../../shared/api/ssh-keys.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import { Deletion } from "../resource/dialog/deletion.tsx";

export function DeleteSshKey({ sshKey: { id, name }, onDismiss }: { sshKey: SshKey; onDismiss: () => void }) {
  const say = text.sshKeys.deletion;
  return (
    <Deletion
      of={id}
      title={say.title(name)}
      confirm={say.confirm}
      send={() => client.sshKeys.delete({ params: { id } })}
      onDeleted={() => {
        notify({ id, type: "success", header: say.deleted(name) });
        onDismiss();
      }}
      onDismiss={onDismiss}
    >
      {say.about(name)}
    </Deletion>
  );
}
