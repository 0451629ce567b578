// Asks before a webhook is deleted.
import type { Webhook } from "../../../shared/api/webhooks.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import { Deletion } from "../resource/dialog/deletion.tsx";

interface Props {
  webhook: Webhook;
  onDeleted: () => void;
  onDismiss: () => void;
}

export function DeleteWebhook({ webhook: { id, name }, onDeleted, onDismiss }: Props) {
  const say = text.webhooks.deletion;
  return (
    <Deletion
      of={id}
      title={say.title(name)}
      confirm={say.confirm}
      send={() => client.webhooks.delete({ params: { id } })}
      onDeleted={() => {
        notify({ id, type: "success", header: say.deleted(name) });
        onDeleted();
      }}
      onDismiss={onDismiss}
    >
      {say.about(name)}
    </Deletion>
  );
}
