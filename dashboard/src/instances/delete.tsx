// Asks before an instance is deleted.
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { text } from "../messages/text.ts";
import { Deletion } from "../resource/dialog/deletion.tsx";

interface Props {
  instance: Instance;
  onDeleting: () => void;
  onDismiss: () => void;
}

export function DeleteInstance({ instance: { id, name, domain }, onDeleting, onDismiss }: Props) {
  const say = text.instances.delete;
  return (
    <Deletion
      of={id}
      title={say.titleOf(name)}
      name={name}
      confirm={say.title}
      send={() => client.instances.delete({ params: { id } })}
      rehearse={() => client.instances.delete.dryRun({ params: { id } })}
      onDeleted={onDeleting}
      onDismiss={onDismiss}
    >
      {say.about(domain)}
    </Deletion>
  );
}
