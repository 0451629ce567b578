// Asks before an API key is revoked.
import type { Token } from "../../../shared/api/tokens.ts";
import { client } from "../app/client.ts";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import { Deletion } from "../resource/dialog/deletion.tsx";

export function RevokeApiKey({ token, onDismiss }: { token: Token; onDismiss: () => void }) {
  const { id, name, prefix, last4 } = token;
  const say = text.tokens.revocation;
  return (
    <Deletion
      of={id}
      title={say.title(name)}
      confirm={say.confirm}
      send={() => client.tokens.delete({ params: { id } })}
      onDeleted={() => {
        notify({ id, type: "success", header: say.revoked(name) });
        onDismiss();
      }}
      onDismiss={onDismiss}
    >
      {say.about(name, `${prefix}…${last4}`)}
    </Deletion>
  );
}
